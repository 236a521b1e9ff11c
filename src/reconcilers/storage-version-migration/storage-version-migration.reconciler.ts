import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '../../catalog/types/apiextensions.v1.js';
import type {
  StorageVersionMigration,
  StorageVersionMigrationStatus,
} from '../../catalog/types/storagemigration.v1beta1.js';
import { ApiError } from '../../machinery/api-error.js';
import { goQuote } from '../../machinery/field-error.js';
import { revisionOption } from '../../machinery/option-parameters.js';
import { apiextensionsVersion } from '../../modules/apiextensions/apiextensions.resources.js';
import { storageMigrationVersion } from '../../modules/storagemigration/storagemigration.resources.js';
import { isCustom, type Served, type ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { findStored } from '../find-stored.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import {
  atRevision,
  ended,
  failed,
  isFinished,
  migrationOf,
  nextStep,
  resourceOf,
  resourceWaitMs,
  started,
  succeeded,
  unhandled,
  type Migration,
} from './decide.js';
import { migrated, migrating, storageVersionOf } from './definition-status.js';
import { MigrationFailure, rewriteOutdated } from './rewrite-outdated.js';

/** Resources that are migrated at the same time. */
const workersMax = 5;
/**
 * Wait for writes in the former storage version: those that are in progress, and those of servers that have not seen the
 * new definition.
 */
const drainSharedMs = 1000;
const drainAloneMs = 50;
/** Steps without a pause: an admission webhook may undo every one of them. */
const stepsMax = 20;
const pauseMs = 1000;
/** Verbs that kube-controller-manager requires, in the order of its message. */
const requiredVerbs = ['update', 'patch', 'list'] as const;

/** Rewrites the objects of resources in their storage version, for StorageVersionMigrations. */
export const storageVersionMigration = defineReconciler({
  name: 'storage-version-migrator-controller',
  runs: 'by default',
  runsOn: 'leader',
  yieldsToUpstream: true,
  fieldManager: () => 'storage-version-migrator-controller',
  start(dependencies) {
    const { registry, config } = dependencies;
    const migrationVersion = storageMigrationVersion(config.naming);
    const definitionVersion = apiextensionsVersion(config.naming);
    const find = (group: string, version: string, plural: string) => findStored(registry, group, version, plural);
    const migrations = find(migrationVersion.group, migrationVersion.version, 'storageversionmigrations');
    const definitions = find(definitionVersion.group, definitionVersion.version, 'customresourcedefinitions');
    return migrations ? new StorageVersionMigrations(dependencies, migrations, definitions) : idle;
  },
});

type Outcome = 'done' | { readonly againInMs: number };

/** The queue holds names of resources: the migrations of one resource run one after another. */
class StorageVersionMigrations implements RunningReconciler {
  /** Migrations that are not finished, by their name. */
  private readonly unfinished = new Map<string, Migration>();
  /** The time at which the migration that runs for a resource was first seen Running. */
  private readonly runningSinceMs = new Map<string, { readonly uid: string | undefined; readonly ms: number }>();
  private readonly queue;
  private readonly ends: (() => void)[];

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly migrations: ServedResource,
    private readonly definitions: ServedResource | undefined,
  ) {
    const { registry } = dependencies;
    const { store } = migrations;
    const work = (resource: string, signal: AbortSignal) => this.reconcile(resource, signal);
    this.queue = dependencies.queue('storage_version_migrator', work, { workersMax });
    this.ends = [
      store.cache.observe({
        changed: ({ current, previous }) => this.note((current ?? previous)!.attributes.name),
        reset: () => {
          this.unfinished.clear();
          for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) this.note(attributes.name);
        },
      }),
      // A migration may wait for its resource.
      registry.onChange(() => {
        for (const migration of this.unfinished.values())
          if (migration.isRunning) this.queue.add(resourceOf(migration));
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private note(name: string): void {
    const { store } = this.migrations;
    const before = this.unfinished.get(name);
    const known = store.cache.get(store.keyOf('', name));
    const migration = known && !known.corruption ? migrationOf(known.parse()) : undefined;
    if (migration && !isFinished(migration)) this.unfinished.set(name, migration);
    else this.unfinished.delete(name);
    for (const changed of [before, migration]) if (changed) this.queue.add(resourceOf(changed));
  }

  private async reconcile(resource: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    for (let steps = 0; steps < stepsMax; steps++) {
      await this.whenFresh(signal);
      const ofResource = [...this.unfinished.values()].filter((migration) => resourceOf(migration) === resource);
      const step = nextStep(ofResource);
      if (step?.type !== 'migrate') this.runningSinceMs.delete(resource);
      if (!step) return;
      const outcome = await this[step.type](step.migration, signal);
      if (outcome !== 'done') return outcome;
    }
    return { againInMs: pauseMs };
  }

  /** Waits until the cache has all writes: an outdated one could show that nothing runs. */
  private async whenFresh(signal: AbortSignal): Promise<void> {
    const { feed, limits } = this.migrations.store.dependencies;
    await feed.consistentRevision({ caller: { signal }, timeoutMs: limits.freshnessTimeoutMs });
  }

  private async start(migration: Migration, signal: AbortSignal): Promise<Outcome> {
    const changed = (definition: CustomResourceDefinition) => migrating(definition, migration.name, this.now());
    await this.changeDefinition(migration, changed, signal);
    return this.changeStatus(migration, (status) => started(status, this.now()), signal);
  }

  private async end(migration: Migration, signal: AbortSignal): Promise<Outcome> {
    if (migration.isRunning) {
      const changed = (definition: CustomResourceDefinition) => migrated(definition, migration.succeeded, this.now());
      await this.changeDefinition(migration, changed, signal);
    }
    return this.changeStatus(migration, (status) => ended(status, this.now()), signal);
  }

  private async migrate(migration: Migration, signal: AbortSignal): Promise<Outcome> {
    const served = this.servedOf(migration);
    const hasRevision = migration.resourceVersion !== '';
    if (!served) {
      const leftMs = Date.parse(migration.createdAt) + resourceWaitMs - this.dependencies.clock.now();
      if (leftMs > 0) return { againInMs: leftMs };
      const message = hasRevision
        ? unhandled('unable to obtain GVR from discovery')
        : 'resource does not exist in discovery';
      return this.fail(migration, message, signal);
    }
    if (!isMigratable(served)) return this.fail(migration, missingVerbs(served), signal);
    if (hasRevision) return this.rewrite(migration, served, signal);
    const leftMs = this.drainLeftMs(migration);
    if (leftMs > 0) return { againInMs: leftMs };
    const { cache } = served.store;
    await this.whenFresh(signal);
    const { revision } = cache.snapshot();
    return this.changeStatus(migration, (status) => atRevision(status, String(revision)), signal);
  }

  private drainLeftMs(migration: Migration): number {
    const { clock, sharesStore } = this.dependencies;
    const resource = resourceOf(migration);
    const now = clock.monotonicMs();
    const known = this.runningSinceMs.get(resource);
    const since = known && known.uid === migration.uid ? known : { uid: migration.uid, ms: now };
    this.runningSinceMs.set(resource, since);
    return since.ms + (sharesStore ? drainSharedMs : drainAloneMs) - now;
  }

  private async rewrite(migration: Migration, served: ServedResource, signal: AbortSignal): Promise<Outcome> {
    const { client, clock, logger } = this.dependencies;
    const { name, uid } = migration;
    try {
      if (isCustom(served)) await this.checkStorageVersion(migration, served, signal);
      const isWanted = () => this.unfinished.get(name)?.uid === uid;
      const upTo = revisionOption(migration.resourceVersion);
      const objects = await rewriteOutdated(served, upTo, { client, clock, signal, isWanted });
      logger.info('objects were rewritten in their storage version', {
        resource: resourceOf(migration),
        name,
        objects,
      });
    } catch (error) {
      if (error instanceof MigrationFailure) return this.fail(migration, unhandled(error.message), signal);
      throw error;
    }
    return this.changeStatus(migration, (status) => succeeded(status, this.now()), signal);
  }

  /** Objects are rewritten in the version of the store, which must be that of the definition. */
  private async checkStorageVersion(migration: Migration, { store }: ServedResource, signal: AbortSignal) {
    const ref = this.definitionRef(migration);
    const definition: CustomResourceDefinition | undefined = ref && (await this.dependencies.client.live(ref, signal));
    if (definition && storageVersionOf(definition) === store.definition.version) return;
    throw ApiError.unavailable(`the storage version of ${resourceOf(migration)} is not that of its definition`);
  }

  private servedOf({ group, resource }: Migration): Served | undefined {
    const found = this.dependencies.registry
      .servedVersions()
      .filter((version) => version.group === group)
      .flatMap(({ resources }) => resources.filter(({ definition }) => definition.plural === resource));
    // Prefers the storage version, whose objects need no conversion for admission.
    return (
      found.find((served) => served.type === 'stored' && served.definition === served.store.definition) ?? found[0]
    );
  }

  private fail(migration: Migration, message: string, signal: AbortSignal): Promise<Outcome> {
    const { name } = migration;
    this.dependencies.logger.warn('a storage version migration failed', {
      name,
      resource: resourceOf(migration),
      reason: message,
    });
    return this.changeStatus(migration, (status) => failed(status, message, this.now()), signal);
  }

  private async changeStatus(
    { name, uid }: Migration,
    changed: (status: StorageVersionMigrationStatus | undefined) => StorageVersionMigrationStatus,
    signal: AbortSignal,
  ): Promise<Outcome> {
    await this.dependencies.client.change(
      { served: this.migrations, namespace: '', name },
      (current: StorageVersionMigration) => ({ ...current, status: changed(current.status) }),
      { subresource: 'status', preconditions: { uid }, signal },
    );
    return 'done';
  }

  /** Changes the status of the CustomResourceDefinition of a custom kind. */
  private async changeDefinition(
    migration: Migration,
    changed: (definition: CustomResourceDefinition) => CustomResourceDefinitionStatus,
    signal: AbortSignal,
  ): Promise<void> {
    const ref = this.definitionRef(migration);
    if (!ref) return;
    await this.dependencies.client.change(
      ref,
      (current: CustomResourceDefinition) => ({ ...current, status: changed(current) }),
      { subresource: 'status', signal },
    );
  }

  private definitionRef(migration: Migration) {
    const { definitions } = this;
    return definitions && { served: definitions, namespace: '', name: resourceOf(migration) };
  }

  private now(): string {
    return objectTime(this.dependencies.clock.now());
  }
}

function isMigratable(served: Served): served is ServedResource {
  if (served.type !== 'stored') return false;
  const { verbs, strategy } = served.definition;
  // Objects of a custom kind that is being deleted are not written.
  if (isCustom(served) && strategy.refusesCreate !== undefined) return false;
  return requiredVerbs.every((verb) => verbs.includes(verb));
}

function missingVerbs({ definition: { group, version, plural } }: Served): string {
  const name = goQuote(`${group}/${version}, Resource=${plural}`);
  return `resource ${name} does not support discovery operations: [${requiredVerbs.join(' ')}]`;
}
