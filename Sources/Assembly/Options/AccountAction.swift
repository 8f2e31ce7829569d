internal import ArgumentParser

/// The commands of `ffmount serve users` and `ffmount serve share`: each applies to the accounts of one file of users.
package enum AccountAction: String, ExpressibleByArgument, CaseIterable {
  case add
  case remove
  case list
}
