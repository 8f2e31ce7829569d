/// The contract as a list of cases, to be run on the tree in process and through a mount.
public enum Conformance {
  public static let cases = mirror + views + archives + attributes + mail + mailViews + changes + damage + scale
}
