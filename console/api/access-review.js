import { pathOf, reviewPath } from './discovery.js';
import { tryJson } from './json.js';

const explanationAnnotation = 'keelson/explanation';

/**
 * Asks whether a request is allowed: { allowed, reason, explanation? }. For the user of the session by a
 * SelfSubjectAccessReview; with an explanation, or for another user, by a SubjectAccessReview, which needs rights.
 */
export async function reviewAccess({ connection, kinds, user }, attributes, { other, isExplained = false } = {}) {
  if (isExplained || other) {
    try {
      return await subjectReview(connection, kinds, attributes, other ?? user);
    } catch (error) {
      if (other || error.status !== 403) throw error;
    }
  }
  return reviewed(connection, kinds, 'selfsubjectaccessreviews', attributes);
}

const subjectReview = (connection, kinds, attributes, { name, groups }) =>
  reviewed(connection, kinds, 'subjectaccessreviews', { ...attributes, user: name, groups }, '?explain=true');

async function reviewed(connection, kinds, plural, spec, query = '') {
  const kind = kinds.find((one) => one.plural === plural);
  const path = reviewPath(kinds, plural);
  if (!kind || !path) throw new Error(`the server has no ${plural}`);
  const body = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, spec };
  const answer = await connection.json(`${path}${query}`, { method: 'POST', body });
  const { allowed = false, denied = false, reason = '', evaluationError = '' } = answer.status ?? {};
  const explanation = tryJson(answer.metadata?.annotations?.[explanationAnnotation] ?? '');
  return { allowed, denied, reason: String(reason), evaluationError: String(evaluationError), explanation };
}

const verbs = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Returns the attributes of a request that was refused, for a review of it. */
export function attributesOf(method, url, kinds) {
  const [path, search = ''] = url.split('?');
  const query = new URLSearchParams(search);
  for (const kind of kinds) {
    const prefix = pathOf({ ...kind, plural: '' }).replace(/\/$/, '');
    if (!path.startsWith(`${prefix}/`)) continue;
    const parts = path
      .slice(prefix.length + 1)
      .split('/')
      .map(decodeURIComponent);
    const namespace = parts[0] === 'namespaces' && parts.length > 2 ? parts.splice(0, 2)[1] : '';
    const [plural, name = '', subresource = ''] = parts;
    if (plural !== kind.plural) continue;
    const verb = method !== 'GET' || name !== '' ? verbs[method] : query.has('watch') ? 'watch' : 'list';
    const { group, version } = kind;
    return { resourceAttributes: { group, version, resource: plural, subresource, namespace, name, verb } };
  }
  return { nonResourceAttributes: { path, verb: method.toLowerCase() } };
}
