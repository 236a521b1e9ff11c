import type { PodCertificateRequest } from '../../catalog/types/certificates.v1beta1.js';
import type { PersistentVolume, PersistentVolumeClaim } from '../../catalog/types/core.v1.js';
import type { ResourceSlice } from '../../catalog/types/resource.v1.js';
import type { VolumeAttachment } from '../../catalog/types/storage.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { Steps } from '../../std/steps.js';
import { NodePods } from './node-pods.js';
import { volumeSecrets } from './volume-secrets.js';

/** Reads objects from the watch caches. */
interface CachedObjects {
  cached(
    resource: { readonly group: string; readonly resource: string },
    namespace: string,
    name: string,
  ): KubeObject | undefined;
}

export type RelatedKind =
  | 'secret'
  | 'configMap'
  | 'claim'
  | 'volume'
  | 'attachment'
  | 'serviceAccount'
  | 'resourceClaim'
  | 'resourceSlice'
  | 'certificateRequest'
  | 'pod';

/**
 * Relations of nodes to objects, read from the watch caches: node → Pods → objects that they refer to; claim → volume →
 * Secrets; and objects that name a node.
 */
export class NodeRelations {
  private readonly pods: NodePods;

  constructor(
    registry: ResourceRegistry,
    private readonly objects: CachedObjects,
    private readonly naming: NamingProfile,
  ) {
    this.pods = new NodePods(registry, naming);
  }

  *areRelated(node: string, kind: RelatedKind, namespace: string, name: string): Steps<boolean> {
    const { pods } = this;
    switch (kind) {
      case 'secret':
        return (
          (yield* pods.refersTo(node, 'secrets', namespace, name)) ||
          (yield* this.isVolumeSecret(node, namespace, name))
        );
      case 'configMap':
        return yield* pods.refersTo(node, 'configMaps', namespace, name);
      case 'claim':
        return yield* pods.refersTo(node, 'claims', namespace, name);
      case 'serviceAccount':
        return yield* pods.refersTo(node, 'serviceAccounts', namespace, name);
      case 'resourceClaim':
        return yield* pods.refersTo(node, 'resourceClaims', namespace, name);
      case 'pod':
        return pods.hasPod(node, namespace, name);
      case 'volume':
        return yield* this.isUsedVolume(node, name);
      case 'attachment':
        return this.attachedNode(name) === node;
      case 'resourceSlice':
        return this.nodeOfSlice(name) === node;
      case 'certificateRequest':
        return this.nodeOfRequest(namespace, name) === node;
    }
  }

  private *isUsedVolume(node: string, name: string): Steps<boolean> {
    const { namespace = '', name: claim = '' } = this.volume(name)?.spec?.claimRef ?? {};
    return claim !== '' && (yield* this.pods.refersTo(node, 'claims', namespace, claim));
  }

  /** Anybody who creates a claim can name any volume in it, so the volume must name the claim, too. */
  private isVolumeSecret(node: string, namespace: string, name: string): Steps<boolean> {
    return this.pods.usesClaim(node, (claimNamespace, claimName) => {
      const claim: PersistentVolumeClaim | undefined = this.readable(claims, claimNamespace, claimName);
      const volume = claim?.spec?.volumeName ? this.volume(claim.spec.volumeName) : undefined;
      const { claimRef, ...source } = volume?.spec ?? {};
      if (claimRef?.namespace !== claimNamespace || claimRef.name !== claimName) return false;
      const secrets = volumeSecrets({ claimRef, ...source });
      return secrets.some((secret) => secret.namespace === namespace && secret.name === name);
    });
  }

  private volume(name: string): PersistentVolume | undefined {
    return this.readable(volumes, '', name);
  }

  /** An object that cannot be decoded gives access to nothing, and must not end the search for others. */
  private readable(...object: Parameters<CachedObjects['cached']>): KubeObject | undefined {
    try {
      return this.objects.cached(...object);
    } catch {
      return undefined;
    }
  }

  private attachedNode(name: string): string | undefined {
    const attachments = { group: this.naming.group('storage'), resource: 'volumeattachments' };
    const attachment: VolumeAttachment | undefined = this.readable(attachments, '', name);
    return attachment?.spec?.nodeName;
  }

  private nodeOfSlice(name: string): string | undefined {
    const slices = { group: this.naming.group('resource'), resource: 'resourceslices' };
    const slice: ResourceSlice | undefined = this.readable(slices, '', name);
    return slice?.spec?.nodeName;
  }

  private nodeOfRequest(namespace: string, name: string): string | undefined {
    const requests = { group: this.naming.group('certificates'), resource: 'podcertificaterequests' };
    const request: PodCertificateRequest | undefined = this.readable(requests, namespace, name);
    return request?.spec?.nodeName;
  }
}

const claims = { group: '', resource: 'persistentvolumeclaims' };
const volumes = { group: '', resource: 'persistentvolumes' };
