import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openKubeconfigClient } from 'keelson/client';

interface ConfigMap {
  readonly data?: Readonly<Record<string, string>>;
}

const trustPath = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

/**
 * Returns the configuration of a server that knows no users: it takes those of requests that the main server forwards, asks
 * it about the tokens of others, and asks it who may do what. The user of the kubeconfig needs the ClusterRole
 * system:auth-delegator, and the Role extension-apiserver-authentication-reader in kube-system.
 */
export async function delegatedAccess(kubeconfigFile: string, directory: string) {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const main = await openKubeconfigClient({ file: kubeconfigFile });
  const { data = {} } = await main.get<ConfigMap>(trustPath).finally(() => main.close());
  // eslint-disable-next-line no-restricted-syntax -- A short text that the main server has written.
  const list = (key: string) => JSON.parse(data[`requestheader-${key}`] ?? '[]') as string[];
  const write = async (name: string, text: string) => {
    const file = join(directory, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  // A webhook is called at the URL of its kubeconfig.
  const kubeconfig = await readFile(kubeconfigFile, 'utf8');
  const at = (path: string) => kubeconfig.replace(/server: "?(https:\/\/[^\s"/]+)[^\s"]*"?/, `server: $1${path}`);
  const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
  const decisions = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  return {
    authentication: {
      anonymous: false,
      requestHeader: {
        clientCaFile: await write('main-proxy-ca.crt', data['requestheader-client-ca-file'] ?? ''),
        allowedNames: list('allowed-names'),
        usernameHeaders: list('username-headers'),
        uidHeaders: list('uid-headers'),
        groupHeaders: list('group-headers'),
        extraHeaderPrefixes: list('extra-headers-prefix'),
      },
      tokenWebhook: { configFile: await write('token-reviews.kubeconfig', at(reviews)), version: 'v1' as const },
    },
    authorization: {
      modes: ['Webhook'] as const,
      webhook: { configFile: await write('access-reviews.kubeconfig', at(decisions)), version: 'v1' as const },
    },
  };
}
