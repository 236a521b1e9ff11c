import { Connection } from './connection.js';
import { discover, reviewPath } from './discovery.js';

const tokenKey = 'keelson-token';
const clusterKey = 'keelson-cluster';

/**
 * Opens a session with the server or, with a name, one of its logical clusters: finds the kinds, and the user that the
 * credentials belong to.
 */
export async function openSession({ token, cluster = '' }) {
  const connection = new Connection(token, cluster);
  const kinds = await discover(connection);
  if (cluster !== '' && kinds.length === 0) throw new Error(`The server has no logical cluster ${cluster}.`);
  return { connection, cluster, kinds, user: await currentUser(connection, kinds) };
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

/**
 * The token, and the logical cluster that it is for, are kept for this tab only if the user asks for it; they are never in
 * localStorage or in a URL.
 */
export function keptCredentials() {
  try {
    const token = sessionStorage.getItem(tokenKey);
    return token === null ? undefined : { token, cluster: sessionStorage.getItem(clusterKey) ?? '' };
  } catch {
    return undefined;
  }
}

export function keepCredentials({ token, cluster }) {
  try {
    sessionStorage.setItem(tokenKey, token);
    sessionStorage.setItem(clusterKey, cluster);
  } catch {
    // Without storage the token lasts until the page is closed.
  }
}

export function forgetCredentials() {
  try {
    sessionStorage.removeItem(tokenKey);
    sessionStorage.removeItem(clusterKey);
  } catch {
    // Nothing was kept.
  }
}
