import { resolve } from 'node:path';
import type { CheckedFields } from './checked-fields.js';
import { interactiveModes, type InteractiveMode, type PluginSettings, type User } from './kubeconfig.js';
import { headerValue } from './header-value.js';
import { parseContent } from './content-fields.js';

interface UserOptions {
  readonly directory: string;
  readonly apiDomain: string;
}

/** Credentials that this client does not support, and the alternative. */
const unsupported = ['username', 'password', 'auth-provider'];

/** Parses a user. A token or client certificate in it is used instead of its plug-in, as in other clients. */
export function parseUser(fields: CheckedFields, { directory, apiDomain }: UserOptions): User {
  for (const name of unsupported) {
    if (fields.value(name) !== undefined && fields.value(name) !== '') {
      throw fields.wrong(name, 'is not supported; use a token, a client certificate or exec');
    }
  }
  const tokenFile = fields.text('tokenFile');
  const plugin = fields.object('exec');
  return {
    clientCertificate: parsePair(fields, directory),
    token: parseToken(fields),
    tokenFile: tokenFile === undefined ? undefined : resolve(directory, tokenFile),
    plugin: plugin && parsePlugin(plugin, { directory, apiDomain }),
    impersonation: parseImpersonation(fields),
  };
}

function parsePair(fields: CheckedFields, directory: string): User['clientCertificate'] {
  const certificate = parseContent(fields, 'client-certificate', directory);
  const key = parseContent(fields, 'client-key', directory);
  if (certificate && !key) throw fields.wrong('client-key', 'is required with client-certificate');
  if (key && !certificate) throw fields.wrong('client-certificate', 'is required with client-key');
  return certificate && key && { certificate, key };
}

function parseToken(fields: CheckedFields): string | undefined {
  const token = fields.text('token');
  if (token !== undefined && headerValue(token) === undefined) {
    throw fields.wrong('token', 'contains characters that a header cannot contain; copy it again');
  }
  return token;
}

/** Spec of the fields: Kubernetes documentation, "client-go credential plugins". */
function parsePlugin(fields: CheckedFields, { directory, apiDomain }: UserOptions): PluginSettings {
  const command = fields.requiredText('command');
  const apiVersion = fields.requiredText('apiVersion');
  const versions = ['v1', 'v1beta1'].map((version) => `client.authentication.${apiDomain}/${version}`);
  if (!versions.includes(apiVersion)) throw fields.wrong('apiVersion', `must be ${versions.join(' or ')}`);
  return {
    command: command.includes('/') ? resolve(directory, command) : command,
    args: fields.texts('args'),
    env: Object.fromEntries(fields.items('env').map((item) => [item.requiredText('name'), item.text('value') ?? ''])),
    apiVersion,
    installHint: fields.text('installHint'),
    providesClusterInfo: fields.flag('provideClusterInfo'),
    interactiveMode: parseInteractiveMode(fields, apiVersion.endsWith('/v1beta1') ? 'IfAvailable' : undefined),
  };
}

function parseInteractiveMode(fields: CheckedFields, modeDefault: InteractiveMode | undefined): InteractiveMode {
  const text = fields.text('interactiveMode') ?? modeDefault;
  const mode = interactiveModes.find((name) => name === text);
  if (mode === undefined) throw fields.wrong('interactiveMode', `must be ${interactiveModes.join(', ')}`);
  return mode;
}

/** Returns the Impersonate-… headers. */
function parseImpersonation(fields: CheckedFields): Record<string, string | string[]> {
  const encoded = (text: string): string => {
    const value = headerValue(text);
    if (value === undefined) throw fields.wrong('as', 'and the other as-… fields must not contain control characters');
    return value;
  };
  const headers: Record<string, string | string[]> = {};
  const user = fields.text('as');
  const uid = fields.text('as-uid');
  const groups = fields.texts('as-groups');
  const extra = fields.object('as-user-extra');
  if (user !== undefined) headers['Impersonate-User'] = encoded(user);
  if (uid !== undefined) headers['Impersonate-Uid'] = encoded(uid);
  if (groups.length > 0) headers['Impersonate-Group'] = groups.map(encoded);
  for (const name of extra?.names() ?? []) {
    // Buffer replaces lone surrogates, on which encodeURIComponent() throws.
    const key = encodeURIComponent(Buffer.from(name.toLowerCase()).toString());
    headers[`Impersonate-Extra-${key}`] = extra!.texts(name).map(encoded);
  }
  if (user === undefined && Object.keys(headers).length > 0) {
    throw fields.wrong('as', 'is required with as-uid, as-groups and as-user-extra');
  }
  return headers;
}
