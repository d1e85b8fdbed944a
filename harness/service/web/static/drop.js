// An archive or a folder that is dropped into the form. A folder's files are sent one by one, each
// with its path, as the form itself sends a folder that was chosen; the server packs them.
(function () {
"use strict";
var form = document.getElementById("submit");
if (!form || !window.DataTransferItem || !DataTransferItem.prototype.webkitGetAsEntry) return;
var archive = form.querySelector("[name=file]"), folder = form.querySelector("[name=files]");
var said = document.getElementById("dropped");
var MOST = 2000, dropped = null;  // pairs of a path and a file

function read(entry) {
  if (/^\.|^__(pycache__|MACOSX)$/.test(entry.name)) return Promise.resolve([]);
  if (entry.isFile) return new Promise(function (done, failed) {
    entry.file(function (file) { done([[entry.fullPath.slice(1), file]]); }, failed);
  });
  return list(entry.createReader(), []).then(function (inside) {
    return Promise.all(inside.map(read)).then(function (found) { return [].concat.apply([], found); });
  });
}

function list(reader, found) {
  return new Promise(function (done, failed) { reader.readEntries(done, failed); })
    .then(function (some) {  // a hundred at a time
      if (!some.length || found.length > MOST) return found;
      return list(reader, found.concat(some));
    });
}

function over(event) { event.preventDefault(); form.classList.add("over"); }
function away() { form.classList.remove("over"); }

form.addEventListener("dragover", over);
form.addEventListener("dragleave", away);
form.addEventListener("drop", function (event) {
  event.preventDefault();
  away();
  var entries = Array.from(event.dataTransfer.items)
    .map(function (item) { return item.webkitGetAsEntry(); }).filter(Boolean);
  dropped = null;
  folder.value = "";  // what is dropped counts, not what was chosen before
  if (entries.length === 1 && entries[0].isFile) {
    archive.files = event.dataTransfer.files;
    said.textContent = archive.files[0].name + " is ready to be submitted.";
    return;
  }
  archive.value = "";
  Promise.all(entries.map(read)).then(function (found) {
    dropped = [].concat.apply([], found);
    said.textContent = dropped.length + " files are ready to be submitted.";
  }, function () { said.textContent = "The dropped files cannot be read."; });
});
form.addEventListener("change", function () { dropped = null; said.textContent = ""; });

form.addEventListener("submit", function (event) {
  if (!dropped) return;
  event.preventDefault();
  var data = new FormData();
  data.append("form_token", form.elements.form_token.value);
  data.append("once", form.elements.once.value);
  dropped.forEach(function (pair) { data.append("files", pair[1], pair[0]); });
  said.textContent = "Being sent …";
  fetch(form.action, {method: "POST", body: data}).then(function (answer) {
    if (answer.ok) { location.href = answer.url; return null; }
    return answer.text().then(function (text) {
      var why = new DOMParser().parseFromString(text, "text/html").querySelector(".untaken, #why p");
      said.textContent = why ? why.textContent : "It was refused.";
    });
  }).catch(function () { said.textContent = "It could not be sent: try again."; });
});
})();
