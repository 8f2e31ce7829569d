internal import Bytes
public import Codecs
public import Files

extension TemporaryFile: Spool {}
