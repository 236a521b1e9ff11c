import type { Namespace } from '../../catalog/types/core.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import type { GroupResource } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Served, ServedResource } from '../../registry/resource-registry.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import { find, type ObjectReader } from '../object-reader.js';
import { formOf, type RequestForm } from './request-form.js';

const namespaceResource: GroupResource = { group: '', resource: 'namespaces' };

type Labels = Readonly<Record<string, string>>;

const labelsOf = ({ metadata }: Namespace): Labels => metadata?.labels ?? {};

/** An object, and as a version of its resource shows it. */
interface Presented {
  readonly object: KubeObject;
  readonly form: RequestForm;
  readonly presented: KubeObject;
}

/** A request as policies and webhooks see it: its resource in all served versions, its objects in one of them, its namespace. */
export class MatchedRequest {
  readonly requested: RequestForm;
  readonly isAboutNamespace: boolean;
  /** The namespace of the object; for a Namespace its own name, '' for other cluster-scoped objects. */
  readonly namespace: string;
  private readonly presented: Presented[] = [];
  private otherForms: readonly RequestForm[] | undefined;
  private foundNamespace: Namespace | Promise<Namespace> | undefined;

  readonly attributes: AdmissionAttributes & { readonly served: Served };

  constructor(
    attributes: AdmissionAttributes & { readonly served: Served },
    private readonly objects: ObjectReader,
    private readonly equivalentsOf: (served: ServedResource) => readonly ServedResource[],
  ) {
    const { served, subresource, resource, namespaced, namespace, name, request } = attributes;
    // As in kube-apiserver: policies and webhooks see no name in a deletion of a collection.
    this.attributes = request.verb === 'deletecollection' ? { ...attributes, name: '' } : attributes;
    this.requested = formOf(served, subresource);
    this.isAboutNamespace = resource.group === '' && resource.resource === 'namespaces';
    this.namespace = this.isAboutNamespace ? name : namespaced ? namespace : '';
  }

  /** Returns the resource in its other served versions and groups, if they have the requested subresource. */
  equivalents(): readonly RequestForm[] {
    return (this.otherForms ??= this.findEquivalents());
  }

  private findEquivalents(): readonly RequestForm[] {
    const { served, subresource } = this.attributes;
    if (served.type !== 'stored') return [];
    return this.equivalentsOf(served)
      .filter(({ definition }) => subresource === '' || Object.hasOwn(definition.subresources, subresource))
      .map((other) => formOf(other, subresource));
  }

  /** Returns the object, or the old one, in the given version; null if the request has none. */
  object(which: 'object' | 'old', form: RequestForm): KubeObject | null {
    const object = this.attributes[which];
    if (!object) return null;
    const known = this.knownOf(object, form);
    if (known) return known;
    const presented = form.present(object, which === 'object' ? this.attributes.canonical : undefined);
    this.presented.push({ object, form, presented });
    return presented;
  }

  /** Returns the object in the given version if it was presented before, null if the request has none. */
  knownObject(form: RequestForm): KubeObject | null | undefined {
    const { object } = this.attributes;
    return object ? this.knownOf(object, form) : null;
  }

  private knownOf(object: KubeObject, form: RequestForm): KubeObject | undefined {
    for (const known of this.presented) if (known.object === object && known.form === form) return known.presented;
    return undefined;
  }

  /** Returns the labels of the namespace; for a write of a Namespace, those that it is given. */
  namespaceLabels(): Labels | Promise<Labels> {
    const { object, operation, subresource } = this.attributes;
    const isWritten = operation === 'CREATE' || operation === 'UPDATE';
    if (this.isAboutNamespace && subresource === '' && isWritten && object) return object.metadata.labels ?? {};
    const found = this.namespaceObject();
    return found instanceof Promise ? found.then(labelsOf) : labelsOf(found);
  }

  /** Returns the namespace of a namespaced object: at once if it is cached. Throws 404 if it does not exist. */
  namespaceObject(): Namespace | Promise<Namespace> {
    return (this.foundNamespace ??= this.objects.cached(namespaceResource, '', this.namespace) ?? this.findNamespace());
  }

  private async findNamespace(): Promise<Namespace> {
    const { request } = this.attributes;
    const found = await find(this.objects, namespaceResource, '', this.namespace, request.signal);
    if (!found) throw ApiError.notFound(namespaceResource, this.namespace);
    return found;
  }
}
