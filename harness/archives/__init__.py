"""Read and unpack archives that nobody has reason to trust. In the order of reading:

* ``archive_streams``: how much an archive may be and unpack to, its kind, its bytes, decompressed
  piece by piece, and which names of members are taken;
* ``reading``: the members of tar and zip, read by this process, or (``confined_reading``) by a
  child of the small process ``reader_server``, which can do nothing else and says what is there;
* ``archive``: looking at an archive, where in it the one folder of a submission is, unpacking it,
  and the way back, from a folder to a ``.tgz``.

The standard library's ``tarfile`` and ``zipfile`` are not used for reading: what they do with
links, devices, sparse files, long names and made-up sizes is theirs to decide, and their memory
is not bounded. Here a member is a regular file or a folder, or the archive is refused.
"""
