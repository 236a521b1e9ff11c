import { CertificateError } from './certificate-error.js';

export interface KubeconfigOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly user: { readonly certificate: string; readonly key: string } | { readonly token: string };
  /** The name of the cluster, the user and the context. */
  readonly name?: string;
}

/** A kubeconfig with everything inside it. A template, so that start-up need not load a YAML library. */
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

/** True for an empty file, and for one from the template above that was at most added to. */
export function isOwnKubeconfig(text: string): boolean {
  if (text.trim() === '') return true;
  const names = [...text.matchAll(/^[ -]*name: (.*)$/gm)].map(([, name]) => name);
  return (
    text.startsWith("apiVersion: v1\nkind: Config\nclusters:\n- name: '") && names.every((name) => name === names[0])
  );
}

/** Base64 has no character that YAML treats specially, so it needs no quotes. */
function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Single quotes take everything but control characters as it is. */
function quoted(text: string): string {
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)) {
    throw new CertificateError('a kubeconfig cannot hold control characters in a name, an address or a token');
  }
  return `'${text.replaceAll("'", "''")}'`;
}
