public import Bytes
public import Files

/// An item of a source on another machine, which is changed by requests. Functions that send requests block.
public protocol DistantItem: Item {
  /// Whether the item, or an entry of the directory, can be changed. False for views.
  var isChangeable: Bool { get }

  /// The local copy of a file that is being written. `nil` if there is none.
  var staged: (any StagedFile)? { get }

  /// Returns the local copy of the file, which is created if there is none. With `truncating`, its bytes are not fetched.
  func stage(truncating: Bool) throws(Fault) -> any StagedFile

  /// Creates a file. Unless `isExclusive`, it does not exist on the other machine before its bytes are sent. Throws
  /// EEXIST if the name exists.
  func makeFile(_ name: FileName, isExclusive: Bool, isExecutable: Bool) throws(Fault) -> any StagedFile

  func makeFolder(_ name: FileName) throws(Fault)

  /// Removes an entry. `isFolder` is whether it must be an empty directory. Open files remain usable.
  func remove(_ name: FileName, isFolder: Bool) throws(Fault)

  /// Renames an entry. Throws EEXIST if the new name exists, unless `replacing`.
  func rename(_ name: FileName, to newName: FileName, in folder: any DistantItem, replacing: Bool) throws(Fault)

  /// Returns the same item under another name.
  func named(_ name: FileName, in folder: any DistantItem) -> any DistantItem

  func setModified(_ time: Timestamp) throws(Fault)

  /// Sets whether the file can be executed.
  func setExecutable(_ isExecutable: Bool) throws(Fault)
}

/// A local copy of a distant file, which all its open files share. Its bytes are sent as a whole.
public protocol StagedFile: AnyObject, Sendable {
  /// Opens the copy with an access mode of open(2). `close` must be called afterwards.
  func open(accessMode: Int32) throws(Fault) -> Descriptor

  /// Records that an open file was closed. Bytes that have not been sent are sent in the background.
  func close(accessMode: Int32)

  /// Records that the bytes, or the size, have changed.
  func noteChange()

  /// Sets the modification time, which is sent with the bytes. Returns `false` if no bytes are waiting to be sent.
  func setModified(_ time: Timestamp) -> Bool

  /// Sets whether the file can be executed, which is sent after the bytes. Returns `false` if no bytes are waiting to be
  /// sent.
  func setExecutable(_ isExecutable: Bool) -> Bool

  /// Whether there is anything to send.
  var mustSend: Bool { get }

  /// Sends the bytes if they have changed. Blocks. Throws ESTALE if the file is no longer the one that was opened.
  func send() throws(Fault)
}
