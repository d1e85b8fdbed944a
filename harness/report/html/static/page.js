/* Of all pages but logs: copying, boards, and the ways through failures and tables. */
// --- copying ---
function copied(button) {
  var old = button.textContent;
  button.textContent = say.textContent = "Copied";
  setTimeout(function () { button.textContent = old; say.textContent = ""; }, 1400);
}
function copy(text, button) {
  if (navigator.clipboard && isSecureContext)
    return navigator.clipboard.writeText(text).then(function () { copied(button); });
  var area = D.createElement("textarea");
  area.value = text;
  D.body.append(area);
  area.select();
  D.execCommand("copy");
  area.remove();
  button.focus();
  copied(button);
}
on("[data-copy]", "click", function (b) {
  copy(b.parentNode.querySelector("pre span").textContent, b);
});

// --- boards ---
var LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
function game(figure) {
  var d = figure.dataset;
  function list(s) { return s ? s.split(" ") : []; }
  return {w: +d.w, h: +d.h, gomoku: "gomoku" in d, start: list(d.start), moves: list(d.moves),
    komi: d.komi, command: d.command};
}
function point(g, v) { return LETTERS.indexOf(v[1]) + (+v.slice(2) - 1) * g.w; }
function beside(g, k) {
  var x = k % g.w, found = [];
  if (x) found.push(k - 1);
  if (x < g.w - 1) found.push(k + 1);
  if (k >= g.w) found.push(k - g.w);
  if (k + g.w < g.w * g.h) found.push(k + g.w);
  return found;
}
function dead(g, board, k) {
  var chain = [k];
  for (var i = 0; i < chain.length; i++)
    for (var q of beside(g, chain[i])) {
      if (!board[q]) return [];
      if (board[q] == board[k] && chain.indexOf(q) < 0) chain.push(q);
    }
  return chain;
}
function played(g, count) {
  var board = {}, last = -1;
  function take(k) { dead(g, board, k).forEach(function (z) { delete board[z]; }); }
  g.start.forEach(function (m) { board[point(g, m)] = m[0]; });
  g.moves.slice(0, count).forEach(function (m) {
    last = -1;
    if (m.length < 2) return;
    last = point(g, m);
    board[last] = m[0];
    if (g.gomoku) return;
    beside(g, last).forEach(function (q) { if (board[q] && board[q] != m[0]) take(q); });
    take(last);
  });
  return {board: board, last: last};
}
function gtp(g) {
  var lines = ["boardsize " + g.w, "clear_board"];
  if (g.komi) lines.push("komi " + g.komi);
  g.start.concat(g.moves).forEach(function (m) {
    lines.push("play " + m[0].toUpperCase() + " " + (m.slice(1) || "pass"));
  });
  return lines.concat(g.command ? [g.command] : []).join("\n") + "\n";
}
function sgf(g) {
  function at(m) {
    if (m.length < 2) return "[]";
    var k = point(g, m), A = "abcdefghijklmnopqrstuvwxyz";
    return "[" + A[k % g.w] + A[g.h - 1 - (k / g.w | 0)] + "]";
  }
  function laid(c) {
    var points = g.start.filter(function (m) { return m[0] == c; }).map(at).join("");
    return points && "A" + c.toUpperCase() + points;
  }
  return "(;FF[4]GM[" + (g.gomoku ? 4 : 1) + "]SZ[" + (g.w == g.h ? g.w : g.w + ":" + g.h) + "]" +
    (g.komi ? "KM[" + g.komi + "]" : "") + laid("b") + laid("w") +
    g.moves.map(function (m) { return "\n;" + m[0].toUpperCase() + at(m); }).join("") + ")\n";
}
function stepper(figure) {
  var g = game(figure), svg = figure.querySelector("svg.board"), M = +svg.dataset.m;
  var range = figure.querySelector("input"), out = figure.querySelector("output");
  var numbered = figure.querySelector("[data-numbers]");
  function place(k) { return [M + k % g.w * 20, M + (g.h - 1 - (k / g.w | 0)) * 20]; }
  function path(board, color) {
    var at = Object.keys(board).filter(function (k) { return !color || board[k] == color; });
    return at.length ? "M" + at.map(function (k) { return place(k).join(" "); }).join("L") : "";
  }
  function numbers(board, count) {
    all(".no-t", svg).forEach(function (x) { x.remove(); });
    if (!numbered || numbered.getAttribute("aria-pressed") != "true") return;
    var seen = {};
    g.moves.slice(0, count).forEach(function (m, i) { if (m.length > 1) seen[point(g, m)] = i; });
    Object.keys(seen).forEach(function (k) {
      if (!board[k]) return;
      var t = D.createElementNS(svg.namespaceURI, "text"), p = place(k);
      t.setAttribute("class", "no-t " + (board[k] == "b" ? "lbk" : "lbw"));
      t.setAttribute("x", p[0]);
      t.setAttribute("y", p[1] + 3);
      t.style.fontSize = "8.5px";
      t.textContent = seen[k] + 1;
      svg.append(t);
    });
  }
  function show(count) {
    count = Math.max(0, Math.min(g.moves.length, count));
    var now = played(g, count), lm = svg.querySelector(".lm"), m = g.moves[count - 1];
    [["sS"], ["sB", "b"], ["sW", "w"]].forEach(function (one) {
      svg.querySelector("." + one[0]).setAttribute("d", path(now.board, one[1]));
    });
    lm.style.display = now.board[now.last] ? "" : "none";
    if (now.board[now.last]) {
      lm.setAttribute("cx", place(now.last)[0]);
      lm.setAttribute("cy", place(now.last)[1]);
      lm.setAttribute("stroke", now.board[now.last] == "b" ? "#fff" : "#16181d");
    }
    var shown = count == g.moves.length ? "" : "none";
    all(".end", svg).forEach(function (x) { x.style.display = shown; });
    numbers(now.board, count);
    range.value = count;
    out.textContent = count + " of " + g.moves.length +
      (m ? " \u00b7 " + m[0].toUpperCase() + " " + (m.slice(1) || "pass") : "");
    range.setAttribute("aria-valuetext", out.textContent);
  }
  range.addEventListener("input", function () { show(+range.value); });
  figure.step = function (by) { show(+range.value + by); };
  all("[data-step]", figure).forEach(function (b) {
    b.addEventListener("click", function () { figure.step(+b.dataset.step); });
  });
  if (numbered) numbered.addEventListener("click", function () {
    numbered.setAttribute("aria-pressed", numbered.getAttribute("aria-pressed") != "true");
    show(+range.value);
  });
  return figure;
}
var figures = all("figure[data-w]");
figures.forEach(function (f) { if (f.querySelector("input")) stepper(f); });
on("[data-gtp]", "click", function (b) {
  copy(gtp(game(b.closest(".body").querySelector("figure"))), b);
});
on("[data-sgf]", "click", function (b) {
  var a = D.createElement("a"), text = sgf(game(b.closest(".body").querySelector("figure")));
  a.href = URL.createObjectURL(new Blob([text], {type: "application/x-go-sgf"}));
  a.download = b.dataset.sgf;
  a.click();
  setTimeout(function () { URL.revokeObjectURL(a.href); }, 1000);
});

// --- to the next and the previous failure ---
var failures = all("[data-fail]"), now = -1;
function go(by) {
  var seen = failures.filter(function (x) { return !x.hidden; });
  if (!seen.length) return;
  var i = seen.indexOf(failures[now]), last = seen.length - 1;
  var next = seen[i < 0 && by < 0 ? last : Math.max(0, Math.min(last, i + by))];
  now = failures.indexOf(next);
  next.open = true;
  next.querySelector("summary").focus({preventScroll: true});
  next.scrollIntoView();
  var at = D.getElementById("at");
  if (at) at.textContent = seen.indexOf(next) + 1 + " of " + seen.length;
}
on("[data-go]", "click", function (b) { go(+b.dataset.go); });
on("[data-fail]>summary", "focus", function (s) { now = failures.indexOf(s.parentNode); });
D.addEventListener("keydown", function (e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented ||
    /INPUT|TEXTAREA|SELECT/.test(e.target.tagName)) return;
  if (e.key == "n") go(1);
  if (e.key == "p") go(-1);
  var by = {ArrowLeft: -1, ArrowRight: 1}[e.key], card = by && e.target.closest(".test[open]");
  card = card || by && failures[now];
  var figure = card && card.querySelector("figure");
  if (figure && figure.step) { figure.step(by); e.preventDefault(); }
});

// --- a matrix is one stop of the Tab key; arrows lead from cell to cell ---
function stop(t, there) {
  if (t.stop) t.stop.tabIndex = -1;
  t.stop = there;
  if (there) there.tabIndex = 0;
}
function settle(t) {
  if (t.stop && !t.stop.closest("[hidden]")) return;
  stop(t, all("a", t).filter(function (a) { return !a.closest("[hidden]"); })[0]);
}
function beyond(t, a, by) {
  var box = a.getBoundingClientRect(), x = (box.left + box.right) / 2, there;
  function below(b) {
    var r = b.getBoundingClientRect();
    return r.left <= x && x <= r.right;
  }
  var lines = all("tr", t).filter(function (r) { return !r.hidden; });
  for (var i = lines.indexOf(a.closest("tr")) + by; lines[i] && !there; i += by)
    there = all("a", lines[i]).filter(below)[0];
  return there;
}
all(".mx").forEach(function (t) {
  all("a", t).forEach(function (a) { a.tabIndex = -1; });
  settle(t);
});
on(".mx", "focusin", function (t, e) { if (e.target.tagName == "A") stop(t, e.target); });
on(".mx", "keydown", function (t, e) {
  var a = e.target, by = {Left: -1, Right: 1, Up: -1, Down: 1}[e.key.slice(5)];
  if (a.tagName != "A" || !by || e.ctrlKey || e.metaKey || e.altKey) return;
  var beside = all("a", a.closest("tr"));
  var there = /t$/.test(e.key) ? beside[beside.indexOf(a) + by] : beyond(t, a, by);
  e.preventDefault();
  if (there) there.focus();
});
D.addEventListener("filtered", function () { all(".mx").forEach(settle); });
