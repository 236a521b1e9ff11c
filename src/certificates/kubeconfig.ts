import { CertificateError } from './certificate-error.js';

interface KubeconfigOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly user: { readonly certificate: string; readonly key: string } | { readonly token: string };
  /** Name of the cluster, the user and the context. */
  readonly name?: string;
}

/**
 * Returns a kubeconfig with embedded credentials. Written by a template, which avoids loading a YAML library at start.
 */
export function kubeconfig(options: KubeconfigOptions): string {
  const name = quoted(options.name ?? 'keelson');
  const credentials =
    'token' in options.user
      ? [`    token: ${quoted(options.user.token)}`]
      : [
          `    client-certificate-data: ${base64(options.user.certificate)}`,
          `    client-key-data: ${base64(options.user.key)}`,
        ];
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${name}`,
    '  cluster:',
    `    certificate-authority-data: ${base64(options.certificateAuthority)}`,
    `    server: ${quoted(options.server)}`,
    'contexts:',
    `- name: ${name}`,
    '  context:',
    `    cluster: ${name}`,
    `    user: ${name}`,
    `current-context: ${name}`,
    'users:',
    `- name: ${name}`,
    '  user:',
    ...credentials,
    '',
  ].join('\n');
}

/** True for an empty file, and for one written by kubeconfig() with one cluster, user and context of the same name. */
export function isOwnKubeconfig(text: string): boolean {
  if (text.trim() === '') return true;
  const names = [...text.matchAll(/^[ -]*name: (.*)$/gm)].map(([, name]) => name);
  return (
    text.startsWith("apiVersion: v1\nkind: Config\nclusters:\n- name: '") && names.every((name) => name === names[0])
  );
}

/** Encodes in base64, which needs no quotes in YAML. */
function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Quotes a YAML string. Single quotes need no escapes except for control characters, which are rejected. */
function quoted(text: string): string {
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)) {
    throw new CertificateError('a kubeconfig cannot contain control characters in a name, an address or a token');
  }
  return `'${text.replaceAll("'", "''")}'`;
}
