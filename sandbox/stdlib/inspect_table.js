// console.table, laid out as in Node.
(host, internal) => {
  'use strict';
  const { p, inspecting } = internal;

  const cell = (v) => {
    const large = v !== null && typeof v === 'object' && !p.isArray(v) && p.typedTag(v) === undefined && p.keys(v).length > 2;
    return internal.utilInspect(v, { __proto__: null, depth: large ? -1 : 0, maxArrayLength: 3, breakLength: Infinity });
  };
  const row = (cells, widths) => {
    let out = '│ ';
    for (let i = 0; i < widths.length; i++) out += (i > 0 ? ' │ ' : '') + cells[i] + p.repeat(' ', widths[i] - inspecting.width(cells[i]));
    return out + ' │';
  };
  const line = (widths, left, middle, right) => {
    let out = left;
    for (let i = 0; i < widths.length; i++) out += (i > 0 ? middle : '') + p.repeat('─', widths[i] + 2);
    return out + right;
  };
  // draw formats a table with a header row and columns. Columns may differ in length and have holes.
  const draw = (head, columns) => {
    const widths = [], rows = [];
    let height = 0;
    for (let i = 0; i < columns.length; i++) height = p.max(height, columns[i].length);
    for (let j = 0; j < height; j++) p.arrayPush(rows, []);
    for (let i = 0; i < head.length; i++) {
      let width = inspecting.width(head[i]);
      for (let j = 0; j < height; j++) {
        const text = p.hasOwn(columns[i], j) ? columns[i][j] : '';
        p.arrayPush(rows[j], text);
        width = p.max(width, inspecting.width(text));
      }
      p.arrayPush(widths, width);
    }
    let out = `${line(widths, '┌', '┬', '┐')}\n${row(head, widths)}\n${line(widths, '├', '┼', '┤')}\n`;
    for (let j = 0; j < height; j++) out += `${row(rows[j], widths)}\n`;
    return out + line(widths, '└', '┴', '┘');
  };

  const INDEX = '(index)', ITERATION = '(iteration index)', KEY = 'Key', VALUES = 'Values';
  inspecting.table = (data, properties) => {
    const count = [], first = [], second = [];
    if (internal.has(data, internal.kinds.map, p.mapSize)) {
      p.mapForEach(data, (v, k) => {
        p.arrayPush(count, cell(count.length));
        p.arrayPush(first, cell(k));
        p.arrayPush(second, cell(v));
      });
      return draw([ITERATION, KEY, VALUES], [count, first, second]);
    }
    if (internal.has(data, internal.kinds.set, p.setSize)) {
      p.setForEach(data, (v) => {
        p.arrayPush(count, cell(count.length));
        p.arrayPush(first, cell(v));
      });
      return draw([ITERATION, VALUES], [count, first]);
    }
    const kind = internal.isObject(data) ? internal.kind(data) : 0, { mapIterator, setIterator } = internal.kinds;
    if (mapIterator !== undefined && (kind === mapIterator || kind === setIterator)) {
      const pairs = kind === mapIterator && inspecting.iteratorPart(data, 1) === 2;
      inspecting.itemsLeft(data, kind === mapIterator, (item, key) => {
        p.arrayPush(count, cell(count.length));
        p.arrayPush(first, cell(pairs ? key : item));
        if (pairs) p.arrayPush(second, cell(item));
      });
      return pairs ? draw([ITERATION, KEY, VALUES], [count, first, second]) : draw([ITERATION, VALUES], [count, first]);
    }
    // The columns are in the order of an object's keys: those whose names are indices come first.
    const indexes = p.keys(data), head = [INDEX], columns = [indexes], byName = { __proto__: null }, values = [];
    let primitives = false;
    const put = (column, i, text) => { p.defineProperty(column, i, { __proto__: null, value: text, writable: true, enumerable: true, configurable: true }); };
    for (let i = 0; i < indexes.length; i++) {
      const item = data[indexes[i]];
      const primitive = !internal.isObject(item);
      if (properties === undefined && primitive) {
        primitives = true;
        put(values, i, cell(item));
        continue;
      }
      const names = properties ?? p.keys(item);
      for (let j = 0; j < names.length; j++) {
        const name = `${names[j]}`;
        byName[name] ??= [];
        put(byName[name], i, primitive || !p.hasOwn(item, name) ? '' : cell(item[name]));
      }
    }
    const named = p.keys(byName);
    for (let i = 0; i < named.length; i++) {
      p.arrayPush(head, named[i]);
      p.arrayPush(columns, byName[named[i]]);
    }
    if (primitives) {
      p.arrayPush(head, VALUES);
      p.arrayPush(columns, values);
    }
    return draw(head, columns);
  };
  return internal;
}
