// Breaks the formatted members of an object into lines, as Node does.
(host, internal) => {
  'use strict';
  const { p, inspecting } = internal;
  const { sqrt, round } = Math;

  const wide = (c) => c >= 0x1100 && (c <= 0x115f || c === 0x2329 || c === 0x232a || (c >= 0x2e80 && c <= 0x3247 && c !== 0x303f) || (c >= 0x3250 && c <= 0x4dbf) ||
    (c >= 0x4e00 && c <= 0xa4c6) || (c >= 0xa960 && c <= 0xa97c) || (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe10 && c <= 0xfe19) ||
    (c >= 0xfe30 && c <= 0xfe6b) || (c >= 0xff01 && c <= 0xff60) || (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1b000 && c <= 0x1b001) || (c >= 0x1f200 && c <= 0x1f251) ||
    (c >= 0x1f300 && c <= 0x1f64f) || (c >= 0x1f900 && c <= 0x1f9ff) || (c >= 0x20000 && c <= 0x3fffd));
  const none = (c) => c <= 0x1f || (c >= 0x7f && c <= 0x9f) || (c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) || (c >= 0x20d0 && c <= 0x20ff) || (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xfe20 && c <= 0xfe2f);
  // width returns the number of terminal columns of a string, without escape codes.
  const width = inspecting.width = (s) => {
    let n = 0;
    for (let i = 0; i < s.length; i++) {
      let c = p.charCodeAt(s, i);
      if (c < 0x7f && c > 0x1f) {
        n++;
        continue;
      }
      if (c === 27 && s[i + 1] === '[') {
        const end = p.indexOf(s, 'm', i);
        if (end > 0 && end - i < 8) {
          i = end;
          continue;
        }
      }
      if (c >= 0xd800 && c < 0xdc00 && i + 1 < s.length) {
        c = ((c & 0x3ff) << 10) + (p.charCodeAt(s, i + 1) & 0x3ff) + 0x10000;
        i++;
      }
      n += wide(c) ? 2 : none(c) ? 0 : 1;
    }
    return n;
  };

  const fits = (ctx, output, start, base) => {
    let total = output.length + start;
    if (total + output.length > ctx.breakLength) return false;
    for (let i = 0; i < output.length; i++) {
      total += ctx.colors ? width(output[i]) : output[i].length;
      if (total > ctx.breakLength) return false;
    }
    return base === '' || p.indexOf(base, '\n') < 0;
  };

  // group arranges the entries of a long array in columns.
  const group = (ctx, output, v) => {
    let total = 0, longest = 0, n = output.length;
    if (ctx.maxArrayLength < n) n--; // the last is "... more items"
    const space = 2, lengths = [];
    for (let i = 0; i < n; i++) {
      const len = width(output[i]);
      p.arrayPush(lengths, len);
      total += len + space;
      if (longest < len) longest = len;
    }
    const actual = longest + space;
    if (actual * 3 + ctx.indent >= ctx.breakLength || (total / actual <= 5 && longest > 6)) return output;
    const bias = sqrt(actual - total / output.length), biased = p.max(actual - 3 - bias, 1);
    const columns = p.min(round(sqrt(2.5 * biased * n) / biased), p.floor((ctx.breakLength - ctx.indent) / actual), ctx.compact * 4, 15);
    if (columns <= 1) return output;
    const widths = [];
    for (let i = 0; i < columns; i++) {
      let most = 0;
      for (let j = i; j < n; j += columns) if (lengths[j] > most) most = lengths[j];
      p.arrayPush(widths, most + space);
    }
    let pad = p.padStart;
    if (v !== undefined) {
      for (let i = 0; i < output.length; i++) {
        if (typeof v[i] !== 'number' && typeof v[i] !== 'bigint') {
          pad = p.padEnd;
          break;
        }
      }
    }
    const rows = [];
    for (let i = 0; i < n; i += columns) {
      const to = p.min(i + columns, n);
      let row = '', j = i;
      for (; j < to - 1; j++) row += pad(`${output[j]}, `, widths[j - i] + output[j].length - lengths[j], ' ');
      row += pad === p.padStart ? p.padStart(output[j], widths[j - i] + output[j].length - lengths[j] - space, ' ') : output[j];
      p.arrayPush(rows, row);
    }
    if (ctx.maxArrayLength < output.length) p.arrayPush(rows, output[n]);
    return rows;
  };

  // join combines the formatted members into one string. array reports whether they are list entries.
  inspecting.join = (ctx, output, base, open, close, array, depth, v) => {
    const head = base === '' ? '' : `${base} `;
    if (output.length === 0) return `${head}${open}${close}`;
    if (ctx.compact !== true) {
      if (typeof ctx.compact === 'number' && ctx.compact >= 1) {
        const entries = output.length;
        if (array && entries > 6) output = group(ctx, output, v);
        if (ctx.currentDepth - depth < ctx.compact && entries === output.length) {
          const start = output.length + ctx.indent + open.length + base.length + 10;
          if (fits(ctx, output, start, base)) {
            const line = p.arrayJoin(output, ', ');
            if (p.indexOf(line, '\n') < 0) return `${head}${open} ${line} ${close}`;
          }
        }
      }
      const indent = `\n${p.repeat(' ', ctx.indent)}`;
      return `${head}${open}${indent}  ${p.arrayJoin(output, `,${indent}  `)}${indent}${close}`;
    }
    if (fits(ctx, output, 0, base)) return `${open}${base === '' ? '' : ` ${base}`} ${p.arrayJoin(output, ', ')} ${close}`;
    const indent = `\n${p.repeat(' ', ctx.indent)}`;
    const line = base === '' && open.length === 1 ? ' ' : `${base === '' ? '' : ` ${base}`}${indent}  `;
    return `${open}${line}${p.arrayJoin(output, `,${indent}  `)} ${close}`;
  };
  return internal;
}
