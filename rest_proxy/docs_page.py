"""A page that shows the OpenAPI document of this service. It needs nothing but the service: no network, no library."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.operation import SERVICE_TAG, Operation, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import STRING

PAGE: Final = r"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>REST Proxy</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8881 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
code, pre, textarea, .path { font: 13px/1.4 ui-monospace, monospace }
pre, textarea { background: var(--soft); padding: .6rem; overflow: auto; max-height: 30rem; width: 100%; box-sizing: border-box }
details { border: 1px solid var(--line); border-radius: 4px; margin: .3rem 0 }
summary { padding: .4rem .6rem; cursor: pointer }
details > div { padding: 0 .8rem .8rem }
.method { display: inline-block; width: 4.5rem; font-weight: bold }
.GET { color: #2a7de1 } .POST { color: #1f9d55 } .DELETE { color: #d64545 } .PUT, .PATCH { color: #b7791f }
.path { overflow-wrap: anywhere }
.about { opacity: .7; margin-left: .6rem }
table { border-collapse: collapse; width: 100% } td { border-top: 1px solid var(--line); padding: .2rem .5rem; vertical-align: top }
input[type=search] { width: 100%; padding: .4rem; box-sizing: border-box }
</style>
<h1></h1>
<p id="about"></p>
<p><a href="openapi.json">openapi.json</a></p>
<input type="search" placeholder="Filter by path or summary" aria-label="Filter">
<main>Loading …</main>
<script>
"use strict";
// Text is only ever set as text, so nothing in the document can become markup.
const make = (tag, attributes = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
};
const pretty = value => JSON.stringify(value, null, 2);

// A schema in few words: names of members with their types, references resolved where they stand.
const outline = (api, schema, seen = []) => {
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return seen.includes(name) ? name : outline(api, api.components.schemas[name], [...seen, name]);
  }
  if ("const" in schema) return schema.const;
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.anyOf) {
    const found = schema.anyOf.map(each => outline(api, each, seen));
    if (found.every(each => typeof each === "string")) return found.join(" | ");
    const rest = found.filter(each => each !== "null");
    return rest.length === 1 ? rest[0] : {"any of": rest};
  }
  if (schema.type === "array") return [outline(api, schema.items, seen)];
  if (schema.properties) {
    const needed = schema.required || [];
    return Object.fromEntries(Object.entries(schema.properties).map(
      ([name, each]) => [needed.includes(name) ? name : name + "?", outline(api, each, seen)]));
  }
  if (schema.type === "object" && schema.additionalProperties) return {"*": outline(api, schema.additionalProperties, seen)};
  return schema.type ? schema.type + (schema.format ? ` (${schema.format})` : "") : "any JSON";
};

const bodies = (api, content) => {
  const types = Object.keys(content);
  const shape = content[types[0]].schema;
  return [make("p", {}, make("code", {textContent: types.join(", ")})),
          make("pre", {textContent: pretty(outline(api, shape))})];
};

const tryForm = (method, path, operation) => {
  const form = make("form");
  const rows = operation.parameters.map(each => {
    const input = make("input", {name: each.name, required: Boolean(each.required)});
    const label = make("td", {}, make("code", {textContent: each.name}), ` (${each.in})`);
    return [each, input, make("tr", {}, label, make("td", {}, input), make("td", {textContent: each.description || ""}))];
  });
  form.append(make("table", {}, ...rows.map(row => row[2])));
  const content = operation.requestBody && operation.requestBody.content;
  const type = make("select", {}, ...Object.keys(content || {}).map(each => make("option", {textContent: each})));
  const body = make("textarea", {rows: 5, placeholder: "Body"});
  const begin = () => { const {example} = content[type.value]; body.value = example ? pretty(example) : ""; };
  type.onchange = begin;
  if (content && method !== "GET") { form.append(make("p", {}, "Content-Type ", type), body); begin(); }
  if (content && method === "GET")
    form.append(make("p", {textContent: "Browsers send no body with GET, which this path needs: ask with curl -X GET -d …"}));
  const good = Object.entries(operation.responses).find(([status, each]) => status < "300" && each.content);
  const accept = make("select", {}, ...Object.keys(good ? good[1].content : {}).map(each => make("option", {textContent: each})));
  if (accept.options.length > 1) form.append(make("p", {}, "Accept ", accept));
  const answer = make("pre", {hidden: true});
  form.append(make("p", {}, make("button", {textContent: "Send"})), answer);
  form.onsubmit = async event => {
    event.preventDefault();
    const query = new URLSearchParams(), headers = {};
    let url = path;
    for (const [each, input] of rows) {
      if (each.in === "path") url = url.replace(`{${each.name}}`, encodeURIComponent(input.value));
      else if (input.value && each.in === "header") headers[each.name] = input.value;
      else if (input.value) query.append(each.name, input.value);
    }
    if (accept.value) headers.accept = accept.value;
    const options = {method, headers};
    if (content && method !== "GET" && body.value) {
      headers["content-type"] = type.value;
      options.body = body.value;
    }
    answer.hidden = false;
    answer.textContent = "…";
    try {
      const response = await fetch(url + (query.size ? "?" + query : ""), options);
      answer.textContent = `${response.status} ${response.headers.get("content-type") || ""}\n\n`;
      // Piece by piece, since streams have no end.
      const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) answer.append(piece.value);
    } catch (problem) {
      answer.append(String(problem));
    }
  };
  return form;
};

const showOperation = (api, method, path, operation) => {
  const inside = make("div");
  const shown = make("details", {}, make("summary", {},
    make("span", {className: "method " + method, textContent: method}),
    make("span", {className: "path", textContent: path}),
    make("span", {className: "about", textContent: operation.summary})), inside);
  shown.dataset.words = `${method} ${path} ${operation.summary}`.toLowerCase();
  shown.addEventListener("toggle", () => {
    if (inside.childElementCount) return;
    if (operation.requestBody) inside.append(make("h4", {textContent: "Body"}), ...bodies(api, operation.requestBody.content));
    const errors = [];
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status >= "400") { errors.push(`${status} ${response.description}`); continue; }
      inside.append(make("h4", {textContent: `${status} ${response.description}`}));
      if (response.content) inside.append(...bodies(api, response.content));
    }
    if (errors.length) inside.append(make("p", {textContent: "Errors: " + errors.join(", ")}));
    inside.append(make("h4", {textContent: "Try it"}), tryForm(method, path, operation));
  });
  return shown;
};

const show = api => {
  document.title = document.querySelector("h1").textContent = api.info.title;
  document.querySelector("#about").textContent = api.info.description;
  const groups = new Map(api.tags.map(tag => [tag.name, make("section", {}, make("h2", {textContent: tag.name}))]));
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(methods))
      groups.get(operation.tags[0]).append(showOperation(api, method.toUpperCase(), path, operation));
  const main = document.querySelector("main");
  main.replaceChildren(...groups.values());
  document.querySelector("input[type=search]").oninput = event => {
    const word = event.target.value.toLowerCase();
    for (const each of main.querySelectorAll("details")) each.hidden = !each.dataset.words.includes(word);
    for (const group of groups.values()) group.hidden = !group.querySelector("details:not([hidden])");
  };
};

fetch("openapi.json").then(response => response.json()).then(show)
  .catch(problem => { document.querySelector("main").textContent = `openapi.json cannot be shown: ${problem}`; });
</script>
</html>
"""


async def _show(_request: Request) -> Response:
    return Response(PAGE, media_type="text/html")


ROUTE: Final = Route(
    "GET",
    "/docs",
    _show,
    Operation("getDocs", SERVICE_TAG, "Show this document to people", {200: content(STRING, "text/html")}),
)
