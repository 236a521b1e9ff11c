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
            [naming.label('description')]:
              'Contains the CA bundle by which the certificate of the API server can be verified when it is reached by its Service.',
          },
        },
        data: { 'ca.crt': facts.rootCaPem },
      },
    },
  ];
}
