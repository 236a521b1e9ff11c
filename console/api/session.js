import { Connection } from './connection.js';
import { discover, reviewPath } from './discovery.js';

const key = 'keelson-token';

/** Opens a session: finds the kinds of the server, and the user that the credentials belong to. */
export async function openSession(token) {
  const connection = new Connection(token);
  const kinds = await discover(connection);
  return { connection, kinds, user: await currentUser(connection, kinds) };
}

/** Returns the name and groups of the user; servers before SelfSubjectReviews do not tell. */
async function currentUser(connection, kinds) {
  const path = reviewPath(kinds, 'selfsubjectreviews');
  if (path === undefined) return { name: 'unknown user', groups: [] };
  const { group, version, kind } = kinds.find(({ plural }) => plural === 'selfsubjectreviews');
  const body = { apiVersion: `${group}/${version}`, kind };
  const { status } = await connection.json(path, { method: 'POST', body });
  const { username = 'unknown user', groups = [] } = status?.userInfo ?? {};
  return { name: String(username), groups: groups.map(String) };
}

/** The token is kept for this tab only if the user asks for it; it is never in localStorage or in a URL. */
export function keptToken() {
  try {
    return sessionStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keepToken(token) {
  try {
    sessionStorage.setItem(key, token);
  } catch {
    // Without storage the token lasts until the page is closed.
  }
}

export function forgetToken() {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}
