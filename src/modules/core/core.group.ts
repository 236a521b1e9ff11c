import type { Service } from '../../catalog/types/core.v1.js';
import { admissionAttributes } from '../../admission/admission-attributes.js';
import type { AdmissionChain } from '../../admission/admission-chain.js';
import type { ForwardPlan } from '../../forwarding/forward-plan.js';
import { ApiError } from '../../machinery/api-error.js';
import { apiVersionOf, type GroupVersionKind } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Mutable } from '../../machinery/mutable.js';
import {
  ApiGroup,
  ComputedResource,
  Reserves,
  Subresource,
  VirtualResource,
  type HandlerResult,
  type SubresourceRequest,
  type VirtualRequest,
} from '../../registry/apis/api-group.js';
import type { RequestContext } from '../../registry/request-context.js';
import type { Reservation } from '../../registry/write/reservation.js';
import { subresourceOf, type HandledSubresource } from '../../registry/definition/resource-definition.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { updateObject } from '../../registry/write/update.js';
import { noAdmission } from '../../registry/write/write-context.js';
import type { ServiceAllocation } from '../../service-allocation/service-allocation.js';
import { componentStatuses, type Component } from './component-status.js';
import type { Connections } from './connections.js';
import { bindingKind, coreResources, evictionKind } from './core.resources.js';
import { coreVersion } from './core.version.js';
import { evict } from './pod/eviction.js';
import { bindingSubresource, bindPod, checkBinding } from './pod/pod.binding.js';
import { issueToken, type TokenRequestDependencies } from './service-account.token.js';

@ApiGroup((naming) => ({
  ...coreVersion,
  groupPriority: 18000,
  versionPriority: 1,
  resources: coreResources(naming),
  virtual: [{ ...bindingKind, plural: 'bindings', singular: 'binding', namespaced: true }],
}))
export class CoreGroup {
  constructor(
    private readonly registry: ResourceRegistry,
    private readonly admission: AdmissionChain,
    private readonly metaGroup: string,
    private readonly tokens: Omit<TokenRequestDependencies, 'registry' | 'admission'>,
    private readonly components: readonly Component[],
    private readonly services: ServiceAllocation,
    private readonly connections: Connections,
  ) {}

  @ComputedResource('componentstatuses')
  componentStatuses(): Promise<readonly KubeObject[]> {
    return componentStatuses(this.components);
  }

  @Reserves('services')
  reserveForService(
    next: Mutable<Service> | undefined,
    old: Service | undefined,
    request: RequestContext,
  ): Promise<Reservation | undefined> {
    return this.services.reserve(next, old, request);
  }

  @Subresource('pods', 'binding')
  async bindByPod({ context, namespace, name, body }: SubresourceRequest): Promise<HandlerResult> {
    const binding = body ?? emptyBinding(name);
    if (binding.metadata.name && binding.metadata.name !== name) {
      throw ApiError.badRequest('name in URL does not match name in Binding object');
    }
    checkBinding(binding, name);
    await this.validate('binding', bindingKind, { namespace, name }, binding, context);
    return this.bind({ namespace, name }, binding, context);
  }

  /**
   * Handles POST of a Binding, the older form of pods/binding: the name of the Binding is that of the Pod. Admission of
   * the resource bindings has run.
   */
  @VirtualResource('bindings')
  async bindByName({ context, namespace, body }: VirtualRequest): Promise<HandlerResult> {
    const { name = '' } = body.metadata;
    checkBinding(body, name);
    return this.bind({ namespace, name }, body, context);
  }

  @Subresource('pods', 'eviction')
  async evict({ context, namespace, name, body }: SubresourceRequest): Promise<HandlerResult> {
    const eviction = body ?? { ...typeOf(evictionKind), metadata: { name } };
    if (eviction.metadata.name !== name) {
      throw ApiError.badRequest('name in URL does not match name in Eviction object');
    }
    await this.validate('eviction', evictionKind, { namespace, name }, eviction, context);
    const { store } = this.registry.require(coreVersion.group, coreVersion.version, 'pods');
    const budgets = this.registry.find(evictionKind.group, evictionKind.version, 'poddisruptionbudgets');
    const dependencies = {
      pods: store,
      budgets: budgets?.type === 'stored' ? budgets.store : undefined,
      metaGroup: this.metaGroup,
    };
    return evict(dependencies, { namespace, name }, eviction, context);
  }

  @Subresource('serviceaccounts', 'token')
  async issueToken(request: SubresourceRequest): Promise<HandlerResult> {
    const { registry, admission } = this;
    const { kind } = subresourceOf(request.definition, 'token') as HandledSubresource;
    return { object: await issueToken({ ...this.tokens, registry, admission }, request, kind), code: 201 };
  }

  @Subresource('pods', 'attach')
  attach(request: SubresourceRequest): Promise<HandlerResult> {
    return forwarded(this.connections.streams(request, 'attach'));
  }

  @Subresource('pods', 'exec')
  exec(request: SubresourceRequest): Promise<HandlerResult> {
    return forwarded(this.connections.streams(request, 'exec'));
  }

  @Subresource('pods', 'portforward')
  forwardPorts(request: SubresourceRequest): Promise<HandlerResult> {
    return forwarded(this.connections.portForward(request));
  }

  @Subresource('pods', 'log')
  readLog(request: SubresourceRequest): Promise<HandlerResult> {
    return forwarded(this.connections.log(request));
  }

  @Subresource('pods', 'proxy')
  proxyToPod(request: SubresourceRequest): Promise<HandlerResult> {
    return forwarded(this.connections.toPod(request));
  }

  @Subresource('services', 'proxy')
  proxyToService(request: SubresourceRequest): Promise<HandlerResult> {
    return forwarded(this.connections.toService(request));
  }

  @Subresource('nodes', 'proxy')
  proxyToNode(request: SubresourceRequest): Promise<HandlerResult> {
    return forwarded(this.connections.toNode(request));
  }

  private async bind(
    target: { readonly namespace: string; readonly name: string },
    binding: KubeObject,
    request: RequestContext,
  ): Promise<HandlerResult> {
    const { store } = this.registry.require(coreVersion.group, coreVersion.version, 'pods');
    const now = objectTime(store.dependencies.clock.now());
    await updateObject(
      store,
      target,
      (pod) => {
        if (!pod) throw ApiError.notFound(store.groupResource, target.name);
        return bindPod(pod, binding, now);
      },
      { subresource: bindingSubresource, requiresResourceVersion: false, createsMissing: false },
      // The Binding was admitted.
      { request, admission: noAdmission, managedFields: { mode: 'none' } },
    );
    return { object: createdStatus, code: 201 };
  }

  /** Runs validating admission on the checked body of a subresource of Pods; mutating admission has run. */
  private validate(
    subresource: string,
    { kind }: GroupVersionKind,
    target: { readonly namespace: string; readonly name: string },
    object: KubeObject,
    request: RequestContext,
  ): Promise<void> {
    const served = this.registry.require(coreVersion.group, coreVersion.version, 'pods');
    return this.admission.validate(
      admissionAttributes({
        operation: 'CREATE',
        resource: served.store.groupResource,
        kind,
        served,
        subresource,
        namespaced: true,
        ...target,
        object,
        request,
      }),
    );
  }
}

/** Without a plan the answer is empty. */
async function forwarded(plan: Promise<ForwardPlan | undefined>): Promise<HandlerResult> {
  const forward = await plan;
  return forward ? { object: undefined, forward } : { object: undefined, code: 204 };
}

const createdStatus = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } as const;

const typeOf = ({ group, version, kind }: GroupVersionKind) => ({ kind, apiVersion: apiVersionOf(group, version) });

function emptyBinding(name: string): KubeObject {
  return { ...typeOf(bindingKind), metadata: { name } };
}
