"""Replies with a page of its own: a script, an event, an end of everything around it."""

import sys

from common import answer, serve

TEXT = (
    "</pre></td></table></article><script>document.title = 'owned'</script>"
    "<img src=x onerror=\"document.title='owned'\"><svg/onload=document.title='owned'>"
    "]]></failure><!-- &bogus; &#0; -->"
)
print(TEXT, file=sys.stderr)
serve(lambda id_, name: answer(id_, TEXT))
