// Finds the credentials in a pasted kubeconfig. Only block style with one key a line is read, as kubectl writes it.

const unquoted = (text) => {
  const value = text.trim();
  const quote = value[0];
  return value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote) ? value.slice(1, -1) : value;
};

/**
 * Returns the items of a top-level list: { name, fields }, with the fields of the one map in each. Deeper keys are not
 * read: extensions of a context have names too.
 */
function itemsOf(lines, section) {
  const items = [];
  let isInside = false;
  for (const line of lines) {
    if (/^\S/.test(line) && !line.startsWith('-')) {
      isInside = line.startsWith(`${section}:`);
      continue;
    }
    if (!isInside) continue;
    const match = /^(\s*)(-\s+)?([\w-]+):(.*)$/.exec(line);
    if (!match) continue;
    const [, indent, dash = '', key, text] = match;
    const column = indent.length + dash.length;
    if (dash !== '' && indent.length <= (items[0]?.indent ?? indent.length))
      items.push({ indent: indent.length, column, fields: new Map() });
    const item = items.at(-1);
    if (!item) continue;
    const value = unquoted(text);
    if (column === item.column) {
      if (key === 'name') item.name ??= value;
    } else if (column === (item.fieldColumn ??= column) && dash === '' && value !== '' && !item.fields.has(key)) {
      item.fields.set(key, value);
    }
  }
  return items;
}

/** Returns the name of the logical cluster of a server: `team-a` of `https://host:6443/clusters/team-a`; otherwise ''. */
function clusterOf(server = '') {
  return /^https:\/\/[^/]+\/clusters\/([^/?#]+)\/?$/.exec(server)?.[1] ?? '';
}

/**
 * Returns { token, cluster } or { problem, cluster } of a kubeconfig: the user and the logical cluster of the current
 * context, or the only ones. Returns { token } of a bare token.
 */
export function credentialsOf(text) {
  const trimmed = text.trim();
  if (!trimmed.includes('\n') && !trimmed.includes(': ')) return { token: trimmed };
  const lines = trimmed.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line));
  const current = unquoted(/^current-context:(.*)$/m.exec(trimmed)?.[1] ?? '');
  const context = itemsOf(lines, 'contexts').find(({ name }) => name === current);
  const chosen = (section, field) => {
    const items = itemsOf(lines, section);
    const named = items.find(({ name }) => name !== undefined && name === context?.fields.get(field));
    return (named ?? (items.length === 1 ? items[0] : undefined))?.fields;
  };
  const cluster = clusterOf(chosen('clusters', 'cluster')?.get('server'));
  const user = chosen('users', 'user');
  if (!user) return { cluster, problem: 'The kubeconfig has no user for its current context.' };
  if (user.has('token')) return { cluster, token: user.get('token') };
  const problem =
    user.has('client-certificate-data') || user.has('client-certificate')
      ? 'This user has a client certificate. Import it into the browser, then continue without a token.'
      : 'This user has no token: the console cannot run credential plug-ins. Paste a token instead.';
  return { cluster, problem };
}
