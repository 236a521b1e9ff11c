import { ApiError } from '../../machinery/api-error.js';
import type { JsonObject, JsonValue } from '../../machinery/kube-object.js';
import { atOnce, type Steps } from '../../std/steps.js';
import { applyConfig, type Applied, type Refused } from './apply-config.js';
import { managedFieldsOf, metadataOf, withManagedFields, withoutManagedFields } from './bare-object.js';
import { capUpdaters } from './cap-updaters.js';
import { fieldsOf } from './config-set.js';
import { conflictError } from './conflicts.js';
import { difference, isEmpty, noFields, sortedThroughout, union, type FieldSet } from './field-set.js';
import { LastApplied } from './last-applied.js';
import {
  isReset,
  ownerId,
  readingOwners,
  writeOwners,
  type Operation,
  type Owner,
  type Owners,
} from './managed-fields.js';
import { neverOwned } from './never-owned.js';
import { disownChanged, reconciled, withFields } from './ownership.js';
import { UntypedItem } from './path-element.js';
import type { Schema } from './schema.js';
import { typeProblems } from './type-check.js';
import { typedPatchError, wrongObjectType } from './apply-errors.js';
import { reachedFields, VersionedChanges, type KindVersions, type VersionedObject } from './versions.js';

interface ManagedKind {
  /** `apps/v1`, the version of the request. */
  readonly apiVersion: string;
  readonly kind: string;
  /** '' for the object itself. */
  readonly subresource: string;
  readonly schema: Schema;
  readonly versions: KindVersions;
  /** Annotation of client-side apply (kubectl.kubernetes.io/last-applied-configuration); undefined to ignore it. */
  readonly lastAppliedAnnotation?: string | undefined;
}

interface TrackedUpdate {
  /** Undefined on create. */
  readonly live: JsonObject | undefined;
  /** The submitted object, before the server sets its own fields. */
  readonly next: JsonObject;
  readonly manager: string;
  /** `2026-01-02T03:04:05Z` */
  readonly time: string;
}

interface AppliedConfig {
  readonly live: JsonObject | undefined;
  readonly config: JsonObject;
  readonly manager: string;
  readonly force: boolean;
  readonly time: string;
  /** Called with the object before ownership is computed; throws to refuse it. */
  readonly check?: ((object: JsonValue) => void) | undefined;
}

const beforeFirstApply = 'before-first-apply';

/**
 * Computes metadata.managedFields for one kind, version and subresource (KEP-555). Every write goes through it: updates
 * are tracked, configurations are applied. Arguments are not changed. Servers use the generators, since objects may
 * have many fields.
 */
export class FieldManager {
  private readonly lastApplied: LastApplied | undefined;

  constructor(private readonly kind: ManagedKind) {
    const { lastAppliedAnnotation: annotation } = kind;
    this.lastApplied = annotation === undefined ? undefined : new LastApplied(annotation, kind);
  }

  /** Returns `next` with managedFields in which `manager` owns what it changed. Never refuses an object. */
  trackUpdate(update: TrackedUpdate): JsonObject {
    return atOnce(this.trackingUpdate(update));
  }

  /** Generator form of trackUpdate(). */
  *trackingUpdate({ live, next, manager, time }: TrackedUpdate): Steps<JsonObject> {
    const reset = this.kind.subresource === '' && isReset(managedFieldsOf(next));
    const owners = reset ? new Map<string, Owner>() : yield* this.ownersBefore(live, next);
    // An object whose managedFields were cleared stays untracked until an apply.
    if (live && owners.size === 0 && !reset) return withManagedFields(next, undefined);
    try {
      return withManagedFields(next, writeOwners(yield* this.tracked(owners, live, next, manager, time)));
    } catch (error) {
      if (!(error instanceof UntypedItem)) throw error;
      return withManagedFields(next, undefined);
    }
  }

  /** Returns the object after the configuration was applied. Throws ApiError: 409 for conflicts. */
  apply(request: AppliedConfig): JsonObject {
    return atOnce(this.applying(request));
  }

  /** Generator form of apply(). */
  *applying(request: AppliedConfig): Steps<JsonObject> {
    this.checkConfig(request.config);
    yield;
    try {
      return yield* this.applyTo(yield* this.ownersAtApply(request), request.live ?? {}, request);
    } catch (error) {
      if (!(error instanceof UntypedItem)) throw error;
      throw typedPatchError(this.kind, request.config, [{ path: '', detail: error.message, kind: 'wrongType' }]);
    }
  }

  /** The owners before the write. Through a subresource managedFields cannot be changed. */
  private *ownersBefore(live: JsonObject | undefined, next: JsonObject): Steps<Owners> {
    const submitted = this.kind.subresource === '' ? yield* readingOwners(managedFieldsOf(next)) : undefined;
    // Clients that drop or corrupt managedFields do not change them.
    return submitted && submitted.size > 0
      ? submitted
      : ((yield* readingOwners(managedFieldsOf(live))) ?? new Map<string, Owner>());
  }

  private *ownersAtApply({ live, time }: AppliedConfig): Steps<Owners> {
    const recorded = (yield* readingOwners(managedFieldsOf(live))) ?? new Map<string, Owner>();
    if (!live || recorded.size > 0) return recorded;
    return yield* this.tracked(recorded, undefined, live, beforeFirstApply, time);
  }

  private *tracked(
    before: Owners,
    live: JsonObject | undefined,
    next: JsonObject,
    manager: string,
    time: string,
  ): Steps<Owners> {
    const { apiVersion, versions } = this.kind;
    const from = this.versioned(live && withoutManagedFields(live));
    const changes = new VersionedChanges(from, this.versioned(withoutManagedFields(next)), true, versions);
    const reconciledOwners = yield* reconciled(before, from, versions);
    const { owners } = yield* disownChanged(reconciledOwners, changes, undefined);
    const { written } = changes.in(apiVersion)!;
    yield;
    const fields = difference(written, neverOwned);
    if (!isEmpty(fields)) {
      const writer = this.owner(manager, 'Update', fields, time);
      const id = ownerId(writer);
      owners.set(id, withFields(writer, union(owners.get(id)?.fields ?? noFields, fields)));
      yield;
    }
    return capUpdaters(owners);
  }

  private *applyTo(owners: Owners, live: JsonObject, request: AppliedConfig): Steps<JsonObject> {
    const result = yield* this.attempt(owners, request, request.force);
    if (!('conflicts' in result)) return this.finished(result, owners, live, request);
    yield;
    const left = this.lastApplied?.conflictsLeft(live, request.manager, result.conflicts) ?? result.conflicts;
    yield;
    if (left.length > 0) throw conflictError(left);
    return this.finished((yield* this.attempt(owners, request, true)) as Applied, owners, live, request);
  }

  private *attempt(owners: Owners, request: AppliedConfig, force: boolean): Steps<Applied | Refused> {
    const { live, config, manager, check } = request;
    const applier = this.owner(manager, 'Apply', yield* this.configFields(config), undefined);
    return yield* applyConfig({
      owners,
      live: this.versioned(live && withoutManagedFields(live)),
      config,
      applier,
      id: ownerId(applier),
      force,
      versions: this.kind.versions,
      check,
    });
  }

  private finished({ object, owners }: Applied, before: Owners, live: JsonObject, request: AppliedConfig): JsonObject {
    const result = (object ?? live) as JsonObject;
    const id = ownerId(this.owner(request.manager, 'Apply', noFields, undefined));
    const applier = owners.get(id);
    if (applier) {
      const fields = difference(applier.fields, neverOwned);
      if (isEmpty(fields)) owners.delete(id);
      else owners.set(id, { ...applier, fields, time: object === undefined ? before.get(id)?.time : request.time });
    }
    const noted = this.lastApplied?.noted(result, request.config, request.manager) ?? result;
    return withManagedFields(noted, writeOwners(owners));
  }

  private *configFields(config: JsonObject): Steps<FieldSet> {
    const { apiVersion, schema, versions } = this.kind;
    const fields = fieldsOf(schema, config);
    yield;
    const sorted = sortedThroughout(fields);
    yield;
    return reachedFields(sorted, apiVersion, versions);
  }

  private checkConfig(config: JsonObject): void {
    const { apiVersion, kind, schema } = this.kind;
    if (config['apiVersion'] !== apiVersion || config['kind'] !== kind) throw wrongObjectType(config);
    if (metadataOf(config)?.['managedFields']) throw ApiError.badRequest('metadata.managedFields must be nil');
    const problems = typeProblems(schema, config);
    if (problems.length > 0) throw typedPatchError(this.kind, config, problems);
  }

  private versioned(object: JsonObject | undefined): VersionedObject {
    return { apiVersion: this.kind.apiVersion, schema: this.kind.schema, object };
  }

  private owner(manager: string, operation: Operation, fields: FieldSet, time: string | undefined): Owner {
    const { apiVersion, subresource } = this.kind;
    return { manager: manager === '' ? 'unknown' : manager, operation, apiVersion, subresource, time, fields };
  }
}
