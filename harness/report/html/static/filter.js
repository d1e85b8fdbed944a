/* Filters of tables and logs, kept in the page's address. */
// --- filter and order, kept in the address ---
var query = D.querySelector("[data-filter]"), cards = all("[data-c]");
var verdict = "all", order = "";
function keep() {
  var kept = [];
  if (query && query.value) kept.push("q=" + encodeURIComponent(query.value));
  if (verdict != "all") kept.push("v=" + verdict);
  if (order) kept.push("o=" + order);
  try {
    history.replaceState(null, "", kept.length ? "#" + kept.join("&") : location.pathname);
  } catch (e) { /* an address that may not be changed is left as it is */ }
}
function filter() {
  D.dispatchEvent(new Event("filtering"));
  var text = query.value.toLowerCase(), count = 0, rows = all("[data-v]");
  function hide(x, kinds) {
    var fits = verdict == "all" || (" " + kinds + " ").indexOf(" " + verdict + " ") >= 0;
    x.hidden = !fits || text !== "" && x.textContent.toLowerCase().indexOf(text) < 0;
    return !x.hidden;
  }
  rows.forEach(function (x) { count += hide(x, x.dataset.v); });
  cards.forEach(function (x) { hide(x, x.dataset.c); });
  D.dispatchEvent(new Event("filtered"));
  D.getElementById("shown").textContent = count + " of " + rows.length;
}
function choose(name) {
  verdict = name;
  all("[data-verdict]").forEach(function (b) {
    b.setAttribute("aria-pressed", b.dataset.verdict == verdict);
  });
}
var words = new Intl.Collator(undefined, {numeric: true});  // 2 comes before 10
function sort(th, down) {
  var body = th.closest("table").tBodies[0], i = th.cellIndex;
  all("th", th.parentNode).forEach(function (x) { x.removeAttribute("aria-sort"); });
  th.setAttribute("aria-sort", down ? "descending" : "ascending");
  order = (down ? "-" : "") + all("thead th").indexOf(th);
  function key(r) {
    var k = r.cells[i].dataset.k;
    return k == null ? r.cells[i].textContent.trim() : +k;
  }
  [].slice.call(body.rows).sort(function (a, b) {
    var x = key(a), y = key(b);
    return (typeof x == "number" ? x - y : words.compare(x, y)) * (down ? -1 : 1);
  }).forEach(function (r) { body.append(r); });
}
on("th button", "click", function (b) {
  sort(b.parentNode, b.parentNode.getAttribute("aria-sort") == "ascending");
  keep();
});
on("[data-verdict]", "click", function (b) { choose(b.dataset.verdict); filter(); keep(); });
if (query) query.addEventListener("input", function () { filter(); keep(); });
function restore() {
  var told = {};
  location.hash.slice(1).split("&").forEach(function (x) {
    var i = x.indexOf("=");
    if (i > 0) told[x.slice(0, i)] = x.slice(i + 1);
  });
  var head = told.o && all("thead th")[Math.abs(+told.o)];
  if (head && head.querySelector("button")) sort(head, told.o[0] == "-");
  if (!query || !(told.q || told.v)) return;
  try { query.value = decodeURIComponent(told.q || ""); } catch (e) { query.value = ""; }
  choose(told.v || "all");
  filter();
}
restore();
