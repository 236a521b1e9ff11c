import {
  attributesClassProtectionFinalizer,
  claimProtectionFinalizer,
  volumeProtectionFinalizer,
} from '../../machinery/finalizers.js';
import { findStored } from '../find-stored.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { attributesClassesOf, claimsOf, isBound, usesClaim } from './decide.js';
import { InUseProtection, type Protection } from './in-use-protection.js';

/** The admission plug-in StorageObjectInUseProtection adds the finalizers. */

export const claimProtection = defineReconciler({
  name: 'persistentvolumeclaim-protection-controller',
  runs: 'by default',
  runsOn: 'leader',
  yieldsToUpstream: true,
  role: 'pvc-protection-controller',
  start: (dependencies) =>
    protect(dependencies, ({ registry, config }) => ({
      queueName: 'pvcprotection',
      finalizer: claimProtectionFinalizer(config.naming),
      target: registry.require('', 'v1', 'persistentvolumeclaims'),
      users: [registry.require('', 'v1', 'pods')],
      namesUsedBy: claimsOf,
      uses: usesClaim,
    })),
});

export const volumeProtection = defineReconciler({
  name: 'persistentvolume-protection-controller',
  runs: 'by default',
  runsOn: 'leader',
  yieldsToUpstream: true,
  role: 'pv-protection-controller',
  start: (dependencies) =>
    protect(dependencies, ({ registry, config }) => ({
      queueName: 'pvprotection',
      finalizer: volumeProtectionFinalizer(config.naming),
      target: registry.require('', 'v1', 'persistentvolumes'),
      isBusy: isBound,
      users: [],
      namesUsedBy: () => [],
      uses: () => false,
    })),
});

export const attributesClassProtection = defineReconciler({
  name: 'volumeattributesclass-protection-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'volumeattributesclass-protection-controller',
  yieldsToUpstream: true,
  start: (dependencies) =>
    protect(dependencies, ({ registry, config }) => {
      const target = findStored(registry, config.naming.group('storage'), 'v1', 'volumeattributesclasses');
      return (
        target && {
          queueName: 'vacprotection',
          finalizer: attributesClassProtectionFinalizer(config.naming),
          target,
          users: ['persistentvolumeclaims', 'persistentvolumes'].map((name) => registry.require('', 'v1', name)),
          namesUsedBy: attributesClassesOf,
          uses: () => true,
        }
      );
    }),
});

function protect(
  dependencies: ReconcilerDependencies,
  protectionOf: (dependencies: ReconcilerDependencies) => Protection | undefined,
): RunningReconciler {
  const protection = protectionOf(dependencies);
  return protection ? new InUseProtection(dependencies, protection) : idle;
}
