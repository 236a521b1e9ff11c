import { decodeJson, encodeJson } from '../codec/json.js';
import { decodeYaml } from '../codec/yaml.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { asFields, asItems, asText, type Fields } from '../machinery/fields.js';

export interface AdmissionOptions {
  readonly as?: string;
  readonly asGroup: readonly string[];
  readonly namespace?: string;
  readonly operation?: 'create' | 'update' | 'delete';
}

/** The explanation of admission for one object of the file. */
export interface ExplainedObject {
  /** `create pods "web" in the namespace "shop"` */
  readonly request: string;
  /** The HTTP status of the answer that the client would have got. */
  readonly code: number;
  readonly explanation: Fields;
}

/** The resource of an object, from the discovery document of its version. */
interface ServedKind {
  /** `/apis/apps/v1` */
  readonly path: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

/** Returns the objects of a YAML or JSON file with one or more documents. Throws ClientError. */
export function objectsOf(bytes: Buffer, file: string): Fields[] {
  const documents = bytes.toString().split(/^---(?:[ \t].*)?$/m);
  const objects: Fields[] = [];
  for (const [index, text] of documents.entries()) {
    if (/^(\s*(#.*)?\n?)*$/.test(text)) continue;
    let value: unknown;
    try {
      ({ value } = decodeYaml(Buffer.from(text)));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw new ClientError('Kubeconfig', `${file}, document ${index + 1}: ${problem}`);
    }
    const object = asFields(value);
    const { apiVersion, kind } = object;
    if (asText(apiVersion) === '' || asText(kind) === '') {
      throw new ClientError('Kubeconfig', `${file}, document ${index + 1}: give apiVersion and kind`);
    }
    objects.push(object);
  }
  if (objects.length === 0) throw new ClientError('Kubeconfig', `${file} has no objects`);
  return objects;
}

/** Sends the object as a dry run, and returns the explanation of the server. */
export async function explainedObject(
  client: KubeconfigClient,
  object: Fields,
  options: AdmissionOptions,
): Promise<ExplainedObject> {
  const { path, plural, isNamespaced } = await servedKind(client, object);
  const metadata = asFields(object['metadata']);
  const name = asText(metadata['name']);
  const namespace = isNamespaced ? asText(metadata['namespace']) || (options.namespace ?? client.namespace) : '';
  const collection = `${path}${namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${plural}`;
  const itself = `${collection}/${encodeURIComponent(name)}`;
  const live = options.operation === 'create' || name === '' ? undefined : await found(client, itself);
  const operation = options.operation ?? (live ? 'update' : 'create');
  const resourceVersion = metadata['resourceVersion'] ?? asFields(live?.['metadata'])['resourceVersion'];
  const body = operation === 'update' ? { ...object, metadata: { ...metadata, resourceVersion } } : object;
  const answer = await client.request({
    method: { create: 'POST', update: 'PUT', delete: 'DELETE' }[operation],
    path: operation === 'create' ? collection : itself,
    query: { dryRun: 'All' },
    headers: {
      'Keelson-Explain': 'admission',
      ...(operation !== 'delete' && { 'Content-Type': 'application/json' }),
      ...impersonation(options),
    },
    ...(operation !== 'delete' && { body: encodeJson(body) }),
  });
  const explanation = asFields(decoded(answer.body));
  if (explanation['kind'] !== 'AdmissionExplanation') {
    throw new ClientError('Status', asText(explanation['message']) || 'the server does not explain admission');
  }
  const shownName = name === '' ? '' : ` "${name}"`;
  const scope = namespace === '' ? '' : ` in the namespace "${namespace}"`;
  return { request: `${operation} ${plural}${shownName}${scope}`, code: answer.status, explanation };
}

async function servedKind(client: KubeconfigClient, object: Fields): Promise<ServedKind> {
  const [apiVersion, kind] = [asText(object['apiVersion']), asText(object['kind'])];
  const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const resources = asItems(asFields(await client.get(path))['resources']);
  const resource = resources.find((one) => one['kind'] === kind && !asText(one['name']).includes('/'));
  if (!resource) throw new ClientError('Status', `the server has no kind ${kind} in ${apiVersion}`);
  return { path, plural: asText(resource['name']), isNamespaced: resource['namespaced'] === true };
}

async function found(client: KubeconfigClient, path: string): Promise<Fields | undefined> {
  const { status, body } = await client.request({ method: 'GET', path });
  if (status === 404) return undefined;
  const object = asFields(decoded(body));
  if (status !== 200) throw new ClientError('Status', asText(object['message']) || `the server answered ${status}`);
  return object;
}

function impersonation({ as: user = '', asGroup }: AdmissionOptions): Record<string, string | string[]> {
  if (user === '') return {};
  return { 'Impersonate-User': user, ...(asGroup.length > 0 && { 'Impersonate-Group': [...asGroup] }) };
}

function decoded(body: Buffer): unknown {
  try {
    return decodeJson(body);
  } catch {
    throw new ClientError('Connection', 'the answer is not JSON; check server in the kubeconfig');
  }
}
