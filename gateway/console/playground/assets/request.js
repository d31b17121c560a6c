// Converts the page's fields to an execution request and back.

import { bytes } from "/assets/format.js";
import { at } from "./page.js";

const limits = ["cpuMs", "outputBytes", "logEntries", "apiCalls"];

// read returns the request for code, or throws a Wrong that names the field.
export function read(code) {
  const request = { code, language: at("language").value, policy: at("policy").value };
  const input = at("input").value.trim();
  if (input) {
    try {
      request.input = JSON.parse(input);
    } catch (error) {
      throw new Wrong("input", `The input is not JSON: ${error.message}`);
    }
  }
  const timeout = number("timeout"), memory = number("memory");
  if (timeout) request.timeout = timeout;
  if (memory) request.memory = `${memory}mb`;
  const lowered = Object.fromEntries(limits.map((name) => [name, number(name)]).filter(([, value]) => value));
  if (Object.keys(lowered).length > 0) request.limits = lowered;
  return request;
}

export class Wrong extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

function number(id) {
  const field = at(id);
  if (field.value === "" && !field.validity.badInput) return 0;
  if (!field.validity.valid) throw new Wrong(id, `${field.labels[0].querySelector("span").textContent}: ${field.validationMessage}`);
  return field.valueAsNumber;
}

// fill sets the fields from a request, clears those that it lacks, and returns its code.
export function fill(request) {
  at("language").value = request.language === "typescript" ? "typescript" : "javascript";
  choose(at("policy"), request.policy ?? "standard");
  at("input").value = request.input === undefined ? "" : JSON.stringify(request.input, null, 2);
  at("timeout").value = request.timeout ?? "";
  at("memory").value = /^\d+mb$/.test(request.memory ?? "") ? parseInt(request.memory, 10) : "";
  for (const name of limits) at(name).value = request.limits?.[name] ?? "";
  return String(request.code ?? "");
}

// choose selects a tier. An unknown tier stays selected, and a run reports it.
function choose(select, name) {
  if (![...select.options].some((o) => o.value === name)) select.add(new Option(name, name));
  select.value = name;
}

// offer fills in the gateway's tiers and keeps the selection.
export function offer(tiers) {
  const select = at("policy"), chosen = select.value;
  select.replaceChildren(...tiers.map((tier) => new Option(tier.name, tier.name)));
  choose(select, chosen);
}

// show writes the limits of a tier next to the fields that lower them.
export function show(tier) {
  for (const field of document.querySelectorAll("[data-of]")) {
    const own = tier ? tier[field.dataset.of] / Number(field.dataset.unit ?? 1) : "";
    field.placeholder = own;
    field.max = own;
  }
  if (!tier) { at("powers").textContent = ""; return; }
  const network = { none: "no network", allowlist: "hosts that the deployment lists", public: "public addresses" }[tier.network] ?? tier.network;
  const files = { none: "no files", read: "read-only files", write: "files of its own" }[tier.files] ?? tier.files;
  const modules = tier.modules.includes("*") ? "all modules" : `modules ${tier.modules.join(", ")}`;
  at("powers").textContent =
    `${tier.name} gives a guest ${network}, ${files}, ${tier.eval ? "eval" : "no eval"}, ${modules}, code of up to ${bytes(tier.codeBytes)}; what is found to be ${tier.blockLevel} danger or more is refused.`;
}

// allowed returns the limits of a request under a tier, by the names of the result's usage.
export function allowed(request, tier) {
  if (!tier) return {};
  const lower = (own, asked) => Math.min(own, asked || own);
  return {
    wallMs: lower(tier.timeoutMs, request.timeout),
    cpuMs: lower(tier.cpuMs, request.limits?.cpuMs),
    memoryBytes: lower(tier.memoryBytes, parseInt(request.memory, 10) * 1048576),
    outputBytes: lower(tier.outputBytes, request.limits?.outputBytes),
    logEntries: lower(tier.logEntries, request.limits?.logEntries),
    apiCalls: lower(tier.apiCalls, request.limits?.apiCalls),
  };
}
