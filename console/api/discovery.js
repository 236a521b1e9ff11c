const aggregated = 'application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList,application/json';

/**
 * The kinds of the server, one for each group and resource, in the version that the server prefers:
 * { group, version, plural, kind, isNamespaced, verbs, id }.
 */
export async function discover(connection) {
  const answers = await Promise.all(
    ['/api', '/apis'].map((path) => connection.json(path, { accept: aggregated }).catch(failedPart)),
  );
  const lists = await Promise.all(answers.map((answer) => kindsOf(connection, answer)));
  const byId = new Map();
  for (const kind of lists.flat()) if (!byId.has(kind.id)) byId.set(kind.id, kind);
  return [...byId.values()].sort(
    (a, b) =>
      compare(rank(a), rank(b)) || compare(a.group, b.group) || compare(a.kind.toLowerCase(), b.kind.toLowerCase()),
  );
}

/** Groups without a domain come first: core, apps, batch. */
const rank = ({ group }) => (group === '' ? 0 : group.includes('.') ? 2 : 1);
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function failedPart(error) {
  if (error.status === 404) return {};
  throw error;
}

async function kindsOf(connection, answer) {
  if (answer.kind === 'APIGroupDiscoveryList') {
    return (answer.items ?? []).flatMap(({ metadata, versions }) =>
      (versions ?? []).flatMap(({ version, resources }) =>
        (resources ?? []).map((one) =>
          described(metadata?.name ?? '', version, one.resource, one.responseKind?.kind, one.scope, one.verbs),
        ),
      ),
    );
  }
  const versions =
    answer.kind === 'APIVersions'
      ? (answer.versions ?? []).map((version) => ({ group: '', version }))
      : (answer.groups ?? []).flatMap((group) => preferredFirst(group));
  const lists = await Promise.all(versions.map((one) => resourcesOf(connection, one)));
  return lists.flat();
}

function preferredFirst({ name, preferredVersion, versions = [] }) {
  const others = versions.filter(({ version }) => version !== preferredVersion?.version);
  return [preferredVersion, ...others].filter(Boolean).map(({ version }) => ({ group: name, version }));
}

async function resourcesOf(connection, { group, version }) {
  try {
    const { resources = [] } = await connection.json(rootOf(group, version));
    return resources
      .filter(({ name }) => !name.includes('/'))
      .map((one) =>
        described(group, version, one.name, one.kind, one.namespaced ? 'Namespaced' : 'Cluster', one.verbs),
      );
  } catch {
    // An aggregated server may be down; the other groups are shown.
    return [];
  }
}

function described(group, version, plural, kind, scope, verbs) {
  return {
    id: `${plural}.${group}`,
    group,
    version,
    plural,
    kind: kind ?? plural,
    isNamespaced: scope === 'Namespaced',
    verbs: new Set(verbs ?? []),
  };
}

function rootOf(group, version) {
  const parts = group === '' ? ['api', version] : ['apis', group, version];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/** Returns the path of a collection, or of an object in it. */
export function pathOf({ group, version, plural, isNamespaced }, namespace = '', name = '') {
  const parts = [
    ...(isNamespaced && namespace !== '' ? ['namespaces', namespace] : []),
    plural,
    ...(name === '' ? [] : [name]),
  ];
  return `${rootOf(group, version)}/${parts.map(encodeURIComponent).join('/')}`;
}

/** Returns the path of a review: `selfsubjectreviews` of the group whose name begins with `authentication.`. */
export function reviewPath(kinds, plural) {
  const kind = kinds.find((one) => one.plural === plural);
  return kind && pathOf(kind);
}
