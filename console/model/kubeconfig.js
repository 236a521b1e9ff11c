// Finds the bearer token in a pasted kubeconfig. Only block style with one key a line is read, as kubectl writes it.

const unquoted = (text) => {
  const value = text.trim();
  const quote = value[0];
  return value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote) ? value.slice(1, -1) : value;
};

/** Returns the items of a top-level list, each with its keys of any depth. */
function itemsOf(lines, section) {
  const items = [];
  let isInside = false;
  for (const line of lines) {
    if (/^\S/.test(line) && !line.startsWith('-')) {
      isInside = line.startsWith(`${section}:`);
      continue;
    }
    if (!isInside) continue;
    const match = /^(\s*)(- )?\s*([\w-]+):(.*)$/.exec(line);
    if (!match) continue;
    const [, indent, dash, key, value] = match;
    if (dash !== undefined && indent.length <= (items[0]?.indent ?? indent.length))
      items.push({ indent: indent.length });
    const item = items.at(-1);
    if (item && value.trim() !== '') item[key] ??= unquoted(value);
  }
  return items;
}

/**
 * Returns { token } or { problem } of a kubeconfig, or of a bare token: the user of the current context, or the only one.
 */
export function tokenOf(text) {
  const trimmed = text.trim();
  if (!trimmed.includes('\n') && !trimmed.includes(': ')) return { token: trimmed };
  const lines = trimmed.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line));
  const current = unquoted(/^current-context:(.*)$/m.exec(trimmed)?.[1] ?? '');
  const contexts = itemsOf(lines, 'contexts');
  const users = itemsOf(lines, 'users');
  const name = contexts.find((one) => one.name === current)?.user;
  const user = users.find((one) => one.name === name) ?? (users.length === 1 ? users[0] : undefined);
  if (!user) return { problem: 'The kubeconfig has no user for its current context.' };
  if (user.token) return { token: user.token };
  if (user['client-certificate-data'] ?? user['client-certificate']) {
    return {
      problem: 'This user has a client certificate. Import it into the browser, then continue without a token.',
    };
  }
  return { problem: 'This user has no token: the console cannot run credential plug-ins. Paste a token instead.' };
}
