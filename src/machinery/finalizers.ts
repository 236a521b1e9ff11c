import type { NamingProfile } from '../config/naming-profile.js';

// The finalizers that this server sets or removes. docs/reconcilers.md says which component does.

/** Set by a deletion with the propagation policy Orphan, until the owner references of the dependents are removed. */
export const orphanFinalizer = 'orphan';
/** Set by a deletion with the propagation policy Foreground, until the dependents are deleted. */
export const foregroundFinalizer = 'foregroundDeletion';

/** In spec.finalizers of every Namespace, until its contents are deleted. */
export const namespaceFinalizer = (naming: NamingProfile): string => naming.serviceName;

/** On a deleted CustomResourceDefinition, until all its objects are deleted. */
export const definitionCleanupFinalizer = (naming: NamingProfile): string =>
  naming.group('customresourcecleanup.apiextensions');

/** On a ServiceCIDR, until no IPAddress needs it. */
export const serviceCidrFinalizer = (naming: NamingProfile): string =>
  `${naming.group('networking')}/service-cidr-finalizer`;

/** On claims, volumes and VolumeAttributesClasses, until they are not in use. */
export const claimProtectionFinalizer = (naming: NamingProfile): string => naming.label('pvc-protection');
export const volumeProtectionFinalizer = (naming: NamingProfile): string => naming.label('pv-protection');
export const attributesClassProtectionFinalizer = (naming: NamingProfile): string => naming.label('vac-protection');
