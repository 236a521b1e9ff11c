import type { APIService } from '../catalog/types/apiregistration.v1.js';

/** A group and version that an aggregated API server serves: an APIService with a Service. */
export interface RemoteVersion {
  /** The name of the APIService: `v1beta1.metrics.k8s.io`. */
  readonly name: string;
  /** Distinguishes an APIService from a deleted one with the same name. */
  readonly uid: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** PEM in base64; '' for the CAs that Node trusts. */
  readonly caBundle: string;
  readonly skipsTlsVerify: boolean;
  /** True if the condition Available is True. */
  readonly isAvailable: boolean;
}

const portDefault = 443;

/** Returns undefined for an APIService of this server, and for one of the core group, which is always served here. */
export function remoteVersionOf({ metadata, spec, status }: APIService): RemoteVersion | undefined {
  const { service, group = '', version = '', caBundle, insecureSkipTLSVerify } = spec ?? {};
  if (!service || group === '' || version === '') return undefined;
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    group,
    version,
    groupPriority: spec?.groupPriorityMinimum ?? 0,
    versionPriority: spec?.versionPriority ?? 0,
    service: { namespace: service.namespace ?? '', name: service.name ?? '', port: service.port ?? portDefault },
    caBundle: caBundle ?? '',
    skipsTlsVerify: insecureSkipTLSVerify ?? false,
    isAvailable: status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'True') ?? false,
  };
}

/** True if connections to one server may be used for the other. */
export function isSameServer(one: RemoteVersion, other: RemoteVersion): boolean {
  return (
    one.service.namespace === other.service.namespace &&
    one.service.name === other.service.name &&
    one.service.port === other.service.port &&
    one.caBundle === other.caBundle &&
    one.skipsTlsVerify === other.skipsTlsVerify
  );
}
