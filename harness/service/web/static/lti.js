// What pages in a platform's frame do by themselves. The platform's storage stands in for a cookie
// that the browser refuses; without an answer of it, the page stays as it is.
(function () {
"use strict";
var PATIENCE = 2000;  // milliseconds
var own = document.querySelector("[data-lti]"), told = own ? own.dataset : {}, asked = 0;

function around() { return window.parent !== window ? window.parent : window.opener; }
function storage() {
  var outer = around();
  try { return told.frame === "_parent" ? outer : outer.frames[told.frame]; } catch (e) { return outer; }
}
function ask(subject, more, then) {
  var id = "gtp-harness-" + (++asked) + "-" + Date.now(), place = storage(), timer;
  function end(value) {
    window.clearTimeout(timer);
    window.removeEventListener("message", hear);
    then(value);
  }
  function hear(event) {
    var said = event.data;
    if (event.origin !== told.origin || !said || typeof said !== "object") return;
    if (said.message_id !== id || said.subject !== subject + ".response") return;
    end(said.error ? "" : said.value || "");
  }
  timer = window.setTimeout(function () { end(""); }, PATIENCE);
  if (!place) return;
  window.addEventListener("message", hear);
  more.subject = subject; more.message_id = id; more.key = told.key;
  place.postMessage(more, told.origin);
}
if (told.lti === "submit") own.submit();
if (told.lti === "put") ask("lti.put_data", {value: told.value}, function () { location.replace(told.next); });
if (told.lti === "get") ask("lti.get_data", {}, function (value) {
  if (!value) return;
  own.elements.value.value = value;
  own.submit();
});
if (told.lti === "close" && around()) around().postMessage({subject: "org.imsglobal.lti.close"}, "*");
})();
