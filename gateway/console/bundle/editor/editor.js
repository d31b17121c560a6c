// The playground's editor: CodeMirror with the extensions that the playground needs. playground/assets/plain.js has the
// same interface over a text area, so the page works with either.
//
// Everything is mounted in a shadow root: there CodeMirror's styles are constructed sheets, which a strict
// Content-Security-Policy permits, where in the document they would be <style> elements, which it does not.

import { EditorState, Compartment } from "@codemirror/state";
import {
  EditorView, keymap, lineNumbers, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, placeholder,
} from "@codemirror/view";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, syntaxHighlighting, bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { searchKeymap, highlightSelectionMatches } from "@codemirror/search";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { javascript, javascriptLanguage, typescriptLanguage } from "@codemirror/lang-javascript";
import { tags as t } from "@lezer/highlight";
import { declared } from "./declared.js";

// Colours are the page's custom properties, which shadow roots inherit: light and dark are decided in one place.
const colours = syntaxHighlighting(HighlightStyle.define([
  { tag: [t.keyword, t.operatorKeyword, t.modifier, t.controlKeyword, t.definitionKeyword, t.moduleKeyword, t.self], color: "var(--code-keyword)" },
  { tag: [t.string, t.special(t.string), t.regexp, t.character], color: "var(--code-string)" },
  { tag: [t.number, t.bool, t.null, t.atom], color: "var(--code-number)" },
  { tag: [t.comment, t.lineComment, t.blockComment, t.docComment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [t.function(t.variableName), t.function(t.propertyName)], color: "var(--code-function)" },
  { tag: [t.typeName, t.className, t.namespace], color: "var(--code-type)" },
  { tag: t.invalid, color: "var(--code-error)" },
]));

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--code-text)", backgroundColor: "var(--code-ground)", fontSize: "var(--code-size)" },
  "&.cm-focused": { outline: "2px solid var(--code-focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--code-font)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--code-text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--code-text)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--code-gutter)", color: "var(--code-dim)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--code-line)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--code-line)", color: "var(--code-text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--code-selection) !important" },
  ".cm-selectionMatch": { backgroundColor: "var(--code-match)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--code-match)", outline: "1px solid var(--code-dim)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--code-line)", border: "none", color: "var(--code-dim)" },
  ".cm-tooltip": { backgroundColor: "var(--code-gutter)", color: "var(--code-text)", border: "1px solid var(--code-edge)", borderRadius: "6px", overflow: "hidden" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--code-font)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--code-selection)", color: "var(--code-text)" },
  ".cm-completionDetail": { color: "var(--code-dim)" },
  ".cm-completionInfo": { maxWidth: "320px", whiteSpace: "pre-wrap" },
  ".cm-diagnostic": { padding: "6px 10px", maxWidth: "480px" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--code-error)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--code-warning)" },
  ".cm-diagnostic-info": { borderLeft: "4px solid var(--code-info)" },
  ".cm-lintRange-error, .cm-lintRange-warning, .cm-lintRange-info": { backgroundImage: "none", textDecorationLine: "underline", textDecorationStyle: "wavy", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { textDecorationColor: "var(--code-error)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--code-warning)" },
  ".cm-lintRange-info": { textDecorationColor: "var(--code-info)" },
  // Markers of the gutter: the built-in ones are images of data: URLs, which the page's policy does not load.
  ".cm-lint-marker": { content: "none", width: "8px", height: "8px", margin: "6px 2px", borderRadius: "50%" },
  ".cm-lint-marker-error": { content: "''", backgroundColor: "var(--code-error)", borderRadius: "1px" },
  ".cm-lint-marker-warning": { content: "''", backgroundColor: "var(--code-warning)" },
  ".cm-lint-marker-info": { content: "''", backgroundColor: "var(--code-info)" },
  ".cm-panels": { backgroundColor: "var(--code-gutter)", color: "var(--code-text)", borderColor: "var(--code-edge)" },
  ".cm-panels input, .cm-panels button": { color: "inherit", backgroundColor: "var(--code-ground)", backgroundImage: "none", border: "1px solid var(--code-edge)", borderRadius: "4px" },
  ".cm-placeholder": { color: "var(--code-dim)" },
});

const languages = { javascript: () => javascript({ jsx: false }), typescript: () => javascript({ typescript: true }) };

function mount(parent, extensions, doc) {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  return new EditorView({ root, parent: root, state: EditorState.create({ doc, extensions: [look, colours, extensions] }) });
}

// replace carries out edits that change more than one line. CodeMirror leaves that to the browser and reads the
// outcome, but a browser joins and splits lines with inline styles, which the page's policy stops and reports.
function replace(event, view) {
  const { from, to } = view.state.selection.main;
  const deletes = event.inputType.startsWith("deleteContent");
  const text = deletes ? "" : event.inputType === "insertText" ? event.data : null;
  if (text === null || event.isComposing || view.composing || (from === to && !text.includes("\n"))) return false;
  const change = () => view.state.update(view.state.replaceSelection(text), { userEvent: deletes ? "delete" : "input.type", scrollIntoView: true });
  if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, change))) view.dispatch(change());
  return true;
}

// create makes the editor in an element. onChange is called after each change of the text, onRun on Ctrl or Cmd and Enter.
export function create({ parent, label, value, language, onChange, onRun }) {
  const grammar = new Compartment();
  let completions = declared("");
  const complete = (context) => completions(context);
  const view = mount(parent, [
    // Before the default keys: these bind Mod-Enter to a blank line.
    keymap.of([{ key: "Mod-Enter", run: () => { onRun(); return true; } }]),
    lineNumbers(), foldGutter(), lintGutter(), history(), drawSelection(), highlightSpecialChars(), indentOnInput(), bracketMatching(), closeBrackets(),
    autocompletion({ icons: false }), highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(),
    placeholder("// JavaScript or TypeScript"),
    EditorState.tabSize.of(2),
    javascriptLanguage.data.of({ autocomplete: complete }),
    typescriptLanguage.data.of({ autocomplete: complete }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
    grammar.of(languages[language]()),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-description": "Escape, then Tab, leaves the editor.", tabindex: "0", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
    EditorView.domEventHandlers({ beforeinput: replace }),
    EditorView.updateListener.of((update) => { if (update.docChanged) onChange(); }),
  ], value);
  const place = (line, column) => {
    const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
    return Math.min(at.from + Math.max(column - 1, 0), at.to);
  };
  return {
    get value() { return view.state.doc.toString(); },
    set value(text) { view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true }); },
    set language(name) { view.dispatch({ effects: grammar.reconfigure(languages[name]()) }); },
    set types(text) { completions = declared(text); },
    // mark shows diagnostics, each {line, column, severity: error | warning | info, message}, lines and columns from 1.
    mark(diagnostics) {
      const list = diagnostics.map((d) => {
        const from = place(d.line, d.column);
        const word = view.state.wordAt(from);
        const to = word && word.from <= from ? word.to : Math.min(from + 1, view.state.doc.lineAt(from).to);
        return { from, to, severity: d.severity, message: d.message };
      });
      view.dispatch(setDiagnostics(view.state, list));
    },
    focus() { view.focus(); },
    go(line, column) {
      view.dispatch({ selection: { anchor: place(line, column) }, scrollIntoView: true });
      view.focus();
    },
  };
}

// viewer shows read-only TypeScript and returns a function that replaces the text.
export function viewer({ parent, label, text }) {
  const view = mount(parent, [
    languages.typescript(), EditorState.readOnly.of(true), EditorView.editable.of(false), EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
  ], text);
  return (replacement) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: replacement } });
}
