import type { Live } from '../certificates/live.js';
import type { KeyPairPem } from '../certificates/pem.js';
import type { ForwardTarget } from '../forwarding/forward-target.js';
import type { ServiceAddresses } from '../webhook-client/service-addresses.js';
import { isSameServer, type RemoteVersion } from './remote-version.js';

interface Dependencies {
  readonly services: ServiceAddresses;
  /** The certificate by which the servers recognize this one. */
  readonly client: Live<KeyPairPem> | undefined;
  /** False: targets are cluster IPs. */
  readonly routesToEndpoints: boolean;
}

interface Known {
  readonly version: RemoteVersion;
  readonly client: KeyPairPem | undefined;
  readonly tls: NonNullable<ForwardTarget['tls']>;
}

/** Finds the address of the Service of an APIService, and how to verify the server there. */
export class RemoteTargets {
  private readonly known = new Map<string, Known>();

  constructor(private readonly dependencies: Dependencies) {}

  /** Throws WebhookCallError if the Service has no such address, and another error for an unusable caBundle. */
  of(version: RemoteVersion): ForwardTarget {
    const { namespace, name, port } = version.service;
    const { services, routesToEndpoints } = this.dependencies;
    const tls = this.tlsOf(version);
    const address = routesToEndpoints
      ? services.resolve(namespace, name, port)
      : services.resolveClusterIp(namespace, name, port);
    return { ...address, scheme: 'https', tls };
  }

  /** Makes the next of() read the endpoints, after a connection that failed. */
  failed({ service: { namespace, name, port } }: RemoteVersion): void {
    this.dependencies.services.forget(namespace, name, port);
  }

  /** Forgets an APIService that was removed. */
  forget(name: string): void {
    this.known.delete(name);
  }

  private tlsOf(version: RemoteVersion): Known['tls'] {
    const client = this.dependencies.client?.current();
    const known = this.known.get(version.name);
    if (known && known.client === client && isSameServer(known.version, version)) return known.tls;
    const { service, caBundle, skipsTlsVerify } = version;
    const ca = Buffer.from(caBundle, 'base64').toString();
    // Node takes a text without certificates for an empty list of CAs; as in kube-apiserver, one of white space is none.
    const isBlank = ca.trim() === '';
    if (!isBlank && !/-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(ca)) {
      throw new Error('unable to load root certificates: spec.caBundle has no certificate in PEM');
    }
    const tls = {
      ...(!isBlank && { ca }),
      ...(client && { cert: client.certificate, key: client.key }),
      serverName: `${service.name}.${service.namespace}.svc`,
      isInsecure: skipsTlsVerify,
    };
    this.known.set(version.name, { version, client, tls });
    return tls;
  }
}
