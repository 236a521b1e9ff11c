import { AdmissionChain } from '../../src/admission/admission-chain.js';
import type { AdmissionAttributes } from '../../src/admission/admission-plugin.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { otherVersion } from '../../src/registry/definition/resource-definition.js';
import type { RequestContext } from '../../src/registry/request-context.js';
import type { Target } from '../../src/verbs/verb.js';
import { WriteWorld } from './write-world.js';

/** A store of Pods with an admission chain that records the attributes of each step. */
export class VerbWorld extends WriteWorld {
  readonly admitted: (AdmissionAttributes & { readonly step: 'admit' | 'validate' })[] = [];
  /** Called by the mutating admission of every attempt. */
  onAdmit: (object: KubeObject | undefined) => void = () => undefined;
  /** True if the plug-in acts on updates that change nothing. */
  actsOnUnchanged = true;
  readonly chain = new AdmissionChain([
    {
      name: 'Recording',
      actsOnUnchanged: () => this.actsOnUnchanged,
      admit: (attributes) => {
        this.admitted.push({ step: 'admit', ...attributes });
        this.onAdmit(attributes.object);
      },
      validate: (attributes) => {
        this.admitted.push({ step: 'validate', ...attributes });
        return this.onValidate(attributes.object, attributes.old);
      },
    },
  ]);

  /** The Pod of the name; '' for a create. */
  target(name: string, request: Partial<RequestContext> = {}): Target {
    return { served: this.served, namespace: 'ns', name, context: this.request(request) };
  }

  /** The same in version v1beta1, whose conversion leaves an annotation. */
  otherVersionTarget(name: string, request: Partial<RequestContext> = {}): Target {
    const toHub = (object: KubeObject): KubeObject => {
      const { annotations = {} } = object.metadata;
      const converted = annotations['default'] === undefined ? 'before default' : 'after default';
      return { ...object, metadata: { ...object.metadata, annotations: { converted, ...annotations } } };
    };
    const definition = otherVersion(this.definition, { version: 'v1beta1', toHub });
    this.store.ownership.add(definition, this.store.type);
    const target = this.target(name, request);
    return { ...target, served: { ...this.served, definition } };
  }
}
