// Times in the reader's zone, with the course's own as a title; dates of an assignment with how far
// away they are. Without script the course's stand there, each with the name of its zone.
(function () {
"use strict";
var UNITS = [["day", 864e5], ["hour", 36e5], ["minute", 6e4]], MOST = 60;  // days that are counted
var away = new Intl.RelativeTimeFormat("en", {numeric: "always"});

function write(moment, has_seconds, has_day) {
  return new Intl.DateTimeFormat("en-GB", {
    weekday: has_day ? "long" : undefined,
    day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
    second: has_seconds ? "2-digit" : undefined, timeZoneName: "short"
  }).format(moment);
}

// Minutes between a time's zone and UTC, as ISO 8601 has them at its end.
function offset(iso) {
  var found = /([+-])(\d\d):(\d\d)$/.exec(iso);
  return found ? (found[1] === "-" ? -1 : 1) * (60 * found[2] + +found[3]) : 0;
}

function distance(milliseconds) {
  var size = Math.abs(milliseconds);
  var unit = UNITS.find(function (one) { return size >= 2 * one[1]; }) || UNITS[2];
  var count = Math.floor(size / unit[1]);
  return away.format(milliseconds < 0 ? -count : count, unit[0]);
}

function show(root) {
  root.querySelectorAll("time[datetime]:not([data-shown])").forEach(function (one) {
    var moment = new Date(one.dateTime), left = moment - Date.now(), own = one.textContent;
    one.dataset.shown = "";
    if (-moment.getTimezoneOffset() !== offset(one.dateTime)) {
      one.title = own;
      one.textContent = write(moment, /:\d\d:/.test(own), /^\D/.test(own));
    }
    if (!one.classList.contains("due") || Math.abs(left) > MOST * UNITS[0][1]) return;
    var words = document.createElement("span");
    words.className = "sub";
    words.textContent = " (" + distance(left) + ")";
    one.append(words);
  });
}

show(document);
document.addEventListener("htmx:load", function (event) { show(event.detail.elt); });
})();
