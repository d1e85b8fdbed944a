/* What all scripts of pages share. They are inlined in one function, in strict mode. */
var D = document, root = D.documentElement, say = D.getElementById("say");
root.classList.add("js");
function all(s, of) { return [].slice.call((of || D).querySelectorAll(s)); }
function on(s, kind, act) {
  all(s).forEach(function (x) { x.addEventListener(kind, function (e) { act(x, e); }); });
}
