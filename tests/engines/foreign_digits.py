"""Numbers its replies as its locale would, in Arabic digits."""

from common import answer, serve

DIGITS = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
serve(lambda id_, name: answer(id_.translate(DIGITS), name))
