import { decodeYaml } from '../codec/yaml.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { CheckedFields } from './checked-fields.js';
import { ClientError, reasonOf } from './client-error.js';
import { parseContent } from './content-fields.js';
import type { Cluster, Kubeconfig } from './kubeconfig.js';
import { parseUser } from './parse-user.js';

interface ParseOptions {
  /** The file, for messages. */
  readonly location: string;
  /** Relative paths in the kubeconfig are relative to it. */
  readonly directory: string;
  /** Name of the context; current-context if absent. */
  readonly context?: string | undefined;
  /** Domain of the group of ExecCredential: `k8s.io`. */
  readonly apiDomain: string;
}

/** As the limit on request bodies of the server. */
export const kubeconfigBytesMax = 3 * 1024 * 1024;
/** A kubeconfig of 3,000 clusters has fewer. */
const valuesMax = 50_000;
/** Number of names in a message. */
const namesShownMax = 5;

/**
 * Parses one context of a kubeconfig. Entries of other contexts are not checked: they may use what this client does not
 * support. Fields without an effect on requests are ignored, as in other clients.
 */
export function parseKubeconfig(bytes: Uint8Array, options: ParseOptions): Kubeconfig {
  const { document, failure } = parseDocument(bytes, options.location);
  const contexts = entries(document, 'contexts', 'context');
  const context = options.context ?? document.text('current-context');
  if (context === undefined) {
    throw failure(`current-context is not set; set it, or choose a context (${shown(contexts)})`);
  }
  const chosen = contexts.get(context);
  if (!chosen) throw failure(`there is no context "${context}"; choose one of contexts (${shown(contexts)})`);
  const clusters = entries(document, 'clusters', 'cluster');
  const users = entries(document, 'users', 'user');
  const cluster = clusters.get(chosen.requiredText('cluster'));
  if (!cluster) throw chosen.wrong('cluster', `must be one of clusters (${shown(clusters)})`);
  const userName = chosen.text('user');
  const user = userName === undefined ? CheckedFields.of({}, 'user', failure) : users.get(userName);
  if (!user) throw chosen.wrong('user', `must be one of users (${shown(users)})`);
  return {
    location: options.location,
    context,
    namespace: chosen.text('namespace') ?? '',
    cluster: parseCluster(cluster, options),
    user: parseUser(user, options),
  };
}

/** Decodes a kubeconfig, of which only the type is checked. Throws ClientError. */
export function parseDocument(bytes: Uint8Array, location: string) {
  const failure = (problem: string) => new ClientError('Kubeconfig', `kubeconfig ${location}: ${problem}`);
  const document = CheckedFields.of(decode(bytes, failure), '', failure);
  requireType(document);
  return { document, failure, entries: (list: string, field: string) => entries(document, list, field) };
}

/** Errors have no cause: those of the YAML parser contain the text, which may have credentials in it. */
function decode(bytes: Uint8Array, failure: (problem: string) => Error): JsonValue {
  if (bytes.length > kubeconfigBytesMax) throw failure(`it is larger than ${kubeconfigBytesMax} bytes`);
  let decoded;
  try {
    decoded = decodeYaml(bytes, { findDuplicates: true, valuesMax });
  } catch (error) {
    throw failure(`it is not valid YAML: ${reasonOf(error)}`);
  }
  if (decoded.duplicates.length > 0) throw failure(`remove duplicate keys: ${decoded.duplicates.join(', ')}`);
  if (decoded.value === null) throw failure('it is empty');
  return decoded.value;
}

function requireType(document: CheckedFields): void {
  if ((document.text('apiVersion') ?? 'v1') !== 'v1') throw document.wrong('apiVersion', 'must be v1');
  if ((document.text('kind') ?? 'Config') !== 'Config') throw document.wrong('kind', 'must be Config');
}

/** Returns the entries of `contexts`, `clusters` or `users` by name. */
function entries(document: CheckedFields, list: string, field: string): Map<string, CheckedFields> {
  const found = new Map<string, CheckedFields>();
  for (const item of document.items(list)) {
    const name = item.requiredText('name');
    if (found.has(name)) throw item.wrong('name', `"${name}" is used twice; rename one`);
    const content = item.object(field);
    if (!content) throw item.wrong(field, 'is required');
    found.set(name, content);
  }
  return found;
}

function shown(found: ReadonlyMap<string, unknown>): string {
  const names = [...found.keys()];
  if (names.length === 0) return 'there is none';
  const more = names.length > namesShownMax ? `, and ${names.length - namesShownMax} more` : '';
  return `${names.slice(0, namesShownMax).join(', ')}${more}`;
}

function parseCluster(fields: CheckedFields, { directory, apiDomain }: ParseOptions): Cluster {
  if (fields.text('proxy-url') !== undefined) {
    throw fields.wrong('proxy-url', 'is not supported; remove it, and make the server reachable without a proxy');
  }
  const certificateAuthority = parseContent(fields, 'certificate-authority', directory);
  const skipsTlsVerify = fields.flag('insecure-skip-tls-verify');
  if (skipsTlsVerify && certificateAuthority) {
    throw fields.wrong('insecure-skip-tls-verify', 'must not be set with certificate-authority; remove one of them');
  }
  const extensions = fields.items('extensions');
  const pluginExtension = extensions.find((item) => item.text('name') === `client.authentication.${apiDomain}/exec`);
  return {
    server: parseServer(fields),
    certificateAuthority,
    tlsServerName: fields.text('tls-server-name'),
    skipsTlsVerify,
    pluginConfig: pluginExtension?.value('extension'),
  };
}

function parseServer(fields: CheckedFields): URL {
  const text = fields.requiredText('server');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['https:', 'http:'].includes(url.protocol)) {
    throw fields.wrong('server', 'must be a URL such as https://127.0.0.1:6443');
  }
  if (url.username !== '' || url.password !== '') {
    throw fields.wrong('server', 'must not contain a user name or password; use a token or a client certificate');
  }
  if (url.search !== '' || url.hash !== '') throw fields.wrong('server', 'must not contain "?" or "#"');
  return url;
}
