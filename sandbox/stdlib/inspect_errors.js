// Formats errors for inspect as Node does, with the stack frames of the guest's source.
(host, internal) => {
  'use strict';
  const { p, inspecting } = internal;

  const textOf = (e) => {
    try { return p.errorToString(e); } catch { return '[object Error]'; }
  };
  // stackOf returns the error's stack with its current name and message: a constructor sets the name after the engine
  // captured the stack. A stack that the guest assigned is returned unchanged.
  const stackOf = (e) => {
    const stack = internal.stackOf(e), { message } = e;
    if (typeof stack !== 'string' || stack === '') return stack ? `${stack}` : textOf(e);
    const at = internal.sync('stack.frames', stack), base = inheritedName(e);
    if (at < 0 || typeof message !== 'string') return stack;
    const head = p.slice(stack, 0, at);
    const made = head === base || (p.startsWith(head, `${base}: `) && p.indexOf(message, p.slice(head, base.length + 2)) >= 0);
    return made ? `${textOf(e)}${p.slice(stack, at)}` : stack;
  };
  const inheritedName = (e) => {
    for (let o = p.getPrototypeOf(e); o !== null; o = p.getPrototypeOf(o)) {
      const d = p.getOwnPropertyDescriptor(o, 'name');
      if (d !== undefined) return typeof d.value === 'string' ? d.value : '';
    }
    return '';
  };

  // withClass replaces the name of a built-in class by that of the subclass.
  const withClass = (stack, constructor, name, tag) => {
    let { length } = name;
    const named = p.endsWith(name, 'Error') && p.startsWith(stack, name) && (stack.length === length || stack[length] === ':' || stack[length] === '\n');
    if (constructor !== null && !named) return stack;
    let fallback = 'Error';
    if (constructor === null) {
      const start = p.regexpExec(/^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n\s+at)/, stack) ?? p.regexpExec(/^([a-z_A-Z0-9-]*Error)$/, stack);
      fallback = start?.[1] ?? '';
      length = fallback.length;
      fallback = fallback || 'Error';
    }
    const shown = constructor === null ? tag !== '' && fallback !== tag ? `[${fallback}: null prototype] [${tag}]` : `[${fallback}: null prototype]`
      : tag !== '' && constructor !== tag ? `${constructor} [${tag}]` : constructor;
    if (name === shown) return stack;
    if (p.indexOf(shown, name) >= 0) return length === 0 ? `${shown}: ${stack}` : `${shown}${p.slice(stack, length)}`;
    return `${shown} [${name}]${p.slice(stack, length)}`;
  };

  inspecting.error = (ctx, e, constructor, tag, keys) => {
    const name = e.name !== null && e.name !== undefined ? `${e.name}` : 'Error';
    let stack = stackOf(e);
    if (!ctx.showHidden && keys.length !== 0) {
      const known = ['name', 'message', 'stack'];
      for (let i = 0; i < known.length; i++) {
        const at = p.arrayIndexOf(keys, known[i]);
        if (at >= 0 && (typeof e[known[i]] !== 'string' || p.indexOf(stack, e[known[i]]) >= 0)) p.arraySplice(keys, at, 1);
      }
    }
    if ('cause' in e && p.arrayIndexOf(keys, 'cause') < 0) p.arrayPush(keys, 'cause');
    if (p.isArray(e.errors) && p.arrayIndexOf(keys, 'errors') < 0) p.arrayPush(keys, 'errors');
    stack = withClass(stack, constructor, name, tag);
    const { message } = e;
    let at = (typeof message === 'string' && message !== '' && p.indexOf(stack, message)) || -1;
    if (at !== -1) at += message.length;
    if (p.indexOf(stack, '\n    at', at) < 0) stack = `[${stack}]`;
    return ctx.indent !== 0 ? inspecting.indented(stack, ctx.indent) : stack;
  };
  return internal;
}
