// Node's path for POSIX.
(host, internal) => {
  'use strict';
  const { modules } = internal;
  const check = (v, name) => {
    if (typeof v !== 'string') throw internal.nodeWrongType(name, 'of type string', v);
    return v;
  };

  // clean resolves . and .. in the segments of a path.
  const clean = (path, absolute) => {
    const out = [];
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue;
      if (part !== '..') out.push(part);
      else if (out.length > 0 && out[out.length - 1] !== '..') out.pop();
      else if (!absolute) out.push('..');
    }
    return out.join('/');
  };

  const posix = {
    sep: '/', delimiter: ':',
    resolve(...parts) {
      let path = '', absolute = false;
      for (let i = parts.length - 1; i >= 0 && !absolute; i--) {
        if (check(parts[i], `paths[${i}]`) === '') continue;
        path = path === '' ? parts[i] : parts[i] + '/' + path;
        absolute = parts[i][0] === '/';
      }
      return '/' + clean(path, true);
    },
    normalize(path) {
      if (check(path, 'path') === '') return '.';
      const absolute = path[0] === '/';
      let out = clean(path, absolute);
      if (out === '') return absolute ? '/' : path.endsWith('/') ? './' : '.';
      if (path.endsWith('/')) out += '/';
      return absolute ? '/' + out : out;
    },
    isAbsolute(path) { return check(path, 'path')[0] === '/'; },
    join(...parts) {
      const path = parts.filter((p) => check(p, 'path') !== '').join('/');
      return path === '' ? '.' : posix.normalize(path);
    },
    relative(from, to) {
      check(from, 'from');
      check(to, 'to');
      const a = posix.resolve(from).split('/').filter(Boolean), b = posix.resolve(to).split('/').filter(Boolean);
      let i = 0;
      while (i < a.length && i < b.length && a[i] === b[i]) i++;
      return [...a.slice(i).map(() => '..'), ...b.slice(i)].join('/');
    },
    toNamespacedPath: (path) => path,
    dirname(path) {
      if (check(path, 'path') === '') return '.';
      let end = path.length;
      while (end > 1 && path[end - 1] === '/') end--;
      const i = path.lastIndexOf('/', end - 1);
      if (end === 1 && path[0] === '/') return '/';
      if (i < 0) return '.';
      if (i === 0) return '/';
      if (i === 1 && path[0] === '/') return '//';
      return path.slice(0, i);
    },
    basename(path, suffix) {
      if (suffix !== undefined) check(suffix, 'suffix');
      let end = check(path, 'path').length;
      if (suffix === path && suffix !== '') return '';
      while (end > 0 && path[end - 1] === '/') end--;
      const base = path.slice(path.lastIndexOf('/', end - 1) + 1, end);
      return suffix && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
    },
    extname(path) {
      const base = posix.basename(check(path, 'path'));
      const i = base.lastIndexOf('.');
      return i <= 0 || base === '..' ? '' : base.slice(i);
    },
    format(o) {
      if (o === null || typeof o !== 'object') throw internal.nodeWrongType('pathObject', 'of type object', o);
      const dir = o.dir || o.root, base = o.base || (o.name || '') + (o.ext ? (o.ext[0] === '.' ? '' : '.') + o.ext : '');
      if (!dir) return base;
      return dir === o.root ? dir + base : dir + '/' + base;
    },
    parse(path) {
      check(path, 'path');
      const root = path[0] === '/' ? '/' : '';
      const base = posix.basename(path), ext = posix.extname(path);
      let end = path.length;
      while (end > 1 && path[end - 1] === '/') end--;
      const i = path.lastIndexOf('/', end - 1);
      const dir = i > 0 ? path.slice(0, i) : i === 0 ? '/' : '';
      return { root, dir, base, ext, name: ext === '' ? base : base.slice(0, -ext.length) };
    },
    matchesGlob(path, pattern) {
      const source = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*\*\/?|\*|\?/g, (m) => m[1] === '*' ? '.*' : m === '*' ? '[^/]*' : '[^/]');
      return new RegExp(`^${source}$`).test(path);
    },
  };
  posix.posix = posix;
  modules.path = modules['path/posix'] = posix;
  return internal;
}
