import type { ServerConfig } from '../../config/server-config.js';
import type { BootObject } from './ensure-object.js';

export interface Authority {
  /** PEM of the certificates that the serving certificate is signed by. */
  readonly authority: { current(): { readonly pem: string } };
}

/** What Pods find in every namespace: an account to act as, and whom to trust. */
export function namespaceObjects({ naming }: ServerConfig, namespace: string, pki: Authority): BootObject[] {
  return [
    {
      resource: 'serviceaccounts',
      keeps: [],
      object: { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default', namespace } },
    },
    {
      resource: 'configmaps',
      keeps: ['data'],
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
        data: { 'ca.crt': pki.authority.current().pem },
      },
    },
  ];
}
