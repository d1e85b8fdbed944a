"""Read and unpack archives that nobody has reason to trust. In the order of reading:

* ``archive_limits``: how much an archive may be and unpack to, and the meter that counts;
* ``member_names``: which names are taken, and which clash;
* ``kinds``: what a file is, told by its content;
* ``archive_streams``: its bytes, decompressed piece by piece; ``tar`` and ``zip``: its members;
* ``reading``: who reads it: this process, or (``confined_reading``) a child of the small process
  ``reader_server``, which can do nothing else and says in frames what is there;
* ``archive``: looking at an archive, and unpacking it;
* ``placing``: where in it the one folder of a submission is;
* ``archive``, too: the way back, from a folder to a ``.tgz``.

The standard library's ``tarfile`` and ``zipfile`` are not used for reading: what they do with
links, devices, sparse files, long names and made-up sizes is theirs to decide, and their memory
is not bounded. Here a member is a regular file or a folder, or the archive is refused.
"""
