import { findStored } from '../find-stored.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { attributesClassesOf, claimsOf, isBound, usesClaim } from './decide.js';
import { InUseProtection, type Protection } from './in-use-protection.js';

/** Admission adds the finalizers: StorageObjectInUseProtection. */

export const claimProtection: Reconciler = {
  name: 'persistentvolumeclaim-protection-controller',
  yieldsToUpstream: true,
  account: 'pvc-protection-controller',
  start: (parts) =>
    protect(parts, ({ registry, config }) => ({
      queueName: 'pvcprotection',
      finalizer: config.naming.label('pvc-protection'),
      held: registry.require('', 'v1', 'persistentvolumeclaims'),
      users: [registry.require('', 'v1', 'pods')],
      namesUsedBy: claimsOf,
      uses: usesClaim,
    })),
};

export const volumeProtection: Reconciler = {
  name: 'persistentvolume-protection-controller',
  yieldsToUpstream: true,
  account: 'pv-protection-controller',
  start: (parts) =>
    protect(parts, ({ registry, config }) => ({
      queueName: 'pvprotection',
      finalizer: config.naming.label('pv-protection'),
      held: registry.require('', 'v1', 'persistentvolumes'),
      isBusy: isBound,
      users: [],
      namesUsedBy: () => [],
      uses: () => false,
    })),
};

export const attributesClassProtection: Reconciler = {
  name: 'volumeattributesclass-protection-controller',
  yieldsToUpstream: true,
  start: (parts) =>
    protect(parts, ({ registry, config }) => {
      const held = findStored(registry, config.naming.group('storage'), 'v1', 'volumeattributesclasses');
      return (
        held && {
          queueName: 'vacprotection',
          finalizer: config.naming.label('vac-protection'),
          held,
          users: ['persistentvolumeclaims', 'persistentvolumes'].map((name) => registry.require('', 'v1', name)),
          namesUsedBy: attributesClassesOf,
          uses: () => true,
        }
      );
    }),
};

function protect(
  parts: ReconcilerParts,
  protectionOf: (parts: ReconcilerParts) => Protection | undefined,
): RunningReconciler {
  const protection = protectionOf(parts);
  return protection ? new InUseProtection(parts, protection) : { stop: async () => undefined };
}
