internal import Bytes
public import Codecs
public import Files
internal import Tree

extension TemporaryFile: Spool {}
