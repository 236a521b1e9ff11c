import type { ServerConfig } from '../../config/server-config.js';
import type { BootObject } from './ensure-object.js';

interface NamespaceFacts {
  /** PEM of the CA certificates that verify the serving certificate. */
  readonly rootCaPem: string;
  /** True while a kube-controller-manager publishes its CA bundle: an existing ConfigMap is not changed. */
  readonly isLeftToUpstream: () => boolean;
}

/** The default service account and the ConfigMap with the CA bundle, which every namespace has. */
export function namespaceObjects({ naming }: ServerConfig, namespace: string, facts: NamespaceFacts): BootObject[] {
  return [
    {
      resource: 'serviceaccounts',
      keeps: [],
      object: { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default', namespace } },
    },
    {
      resource: 'configmaps',
      keeps: ['data'],
      isLeftAlone: facts.isLeftToUpstream,
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          name: naming.systemName('root-ca.crt'),
          namespace,
          annotations: {
            [naming.label('description')]: bundleDescription,
          },
        },
        data: { 'ca.crt': facts.rootCaPem },
      },
    },
  ];
}

/** As in kube-controller-manager, word for word: both may write it. */
const bundleDescription =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';
