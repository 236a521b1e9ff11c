import type { MatchResources, NamedRuleWithOperations } from '../../catalog/types/admissionregistration.v1.js';
import type { LabelSelector as LabelSelectorObject } from '../../catalog/types/meta.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import type { GroupResource } from '../../machinery/gvk.js';
import { labelSelectorOf } from '../../machinery/label-selector-object.js';
import { everyLabel, type LabelSelector } from '../../machinery/label-selector.js';
import { ConfigurationError } from './configuration-error.js';
import type { MatchedRequest } from './matched-request.js';
import type { GroupVersionResource, RequestForm } from './request-form.js';

/** The requests that a policy, a binding or a webhook applies to. Absent selectors and rules select every request. */
export class RequestMatch {
  /** The error of a selector that cannot be read. */
  private problem: string | undefined;
  private readonly namespaceSelector: LabelSelector;
  private readonly objectSelector: LabelSelector;
  private readonly included: readonly RuleMatch[];
  private readonly excluded: readonly RuleMatch[];
  private readonly isExact: boolean;

  constructor({ namespaceSelector, objectSelector, resourceRules, excludeResourceRules, matchPolicy }: MatchResources) {
    this.namespaceSelector = this.selectorOf(namespaceSelector);
    this.objectSelector = this.selectorOf(objectSelector);
    this.included = (resourceRules ?? []).map((rule) => new RuleMatch(rule));
    this.excluded = (excludeResourceRules ?? []).map((rule) => new RuleMatch(rule));
    this.isExact = matchPolicy === 'Exact';
  }

  /**
   * Returns the version in which the rules select the request, undefined if they do not. Looks at rules and labels of
   * the object only, so that most requests need no namespace.
   */
  formOf(request: MatchedRequest): RequestForm | undefined {
    if (!this.selectsObject(request)) return undefined;
    const form = this.included.length === 0 ? request.requested : this.formOfRules(this.included, request);
    if (!form || (this.excluded.length > 0 && this.formOfRules(this.excluded, request))) return undefined;
    return form;
  }

  /** True if a rule selects an operation on one of the resources or on a subresource of one, in some version. */
  maySelect(operation: string, resources: readonly GroupResource[]): boolean {
    return this.included.length === 0 || this.included.some((rule) => rule.maySelect(operation, resources));
  }

  private selectorOf(selector: LabelSelectorObject | undefined): LabelSelector {
    if (!selector) return everyLabel;
    try {
      return labelSelectorOf(selector);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.problem = error.message;
      return everyLabel;
    }
  }

  /** True if the labels of the namespace are selected. Cluster-scoped objects other than Namespaces always are. */
  selectsNamespace(request: MatchedRequest): boolean | Promise<boolean> {
    if (this.problem !== undefined) throw new ConfigurationError(this.problem);
    if (this.namespaceSelector.isEmpty || request.namespace === '') return true;
    const labels = request.namespaceLabels();
    return labels instanceof Promise
      ? labels.then((found) => this.namespaceSelector.matches(found))
      : this.namespaceSelector.matches(labels);
  }

  /** True if the labels of the new or of the old object are selected: removing a label does not evade a policy. */
  private selectsObject({ attributes: { object, old, operation } }: MatchedRequest): boolean {
    const { objectSelector: selector } = this;
    if (selector.isEmpty) return true;
    // The options of a connection have no labels.
    if (operation === 'CONNECT') return false;
    return (
      (object !== undefined && selector.matches(object.metadata.labels ?? {})) ||
      (old !== undefined && selector.matches(old.metadata.labels ?? {}))
    );
  }

  private formOfRules(rules: readonly RuleMatch[], request: MatchedRequest): RequestForm | undefined {
    const { requested } = request;
    if (rules.some((rule) => rule.selects(request, requested.resource))) return requested;
    if (this.isExact) return undefined;
    for (const rule of rules) {
      if (!rule.selectsOperation(request)) continue;
      const found = request.equivalents().find((form) => rule.selects(request, form.resource));
      if (found) return found;
    }
    return undefined;
  }
}

interface NamedResource {
  readonly resource: string;
  readonly subresource: string;
}

/** One of the rules; `*` selects everything. */
class RuleMatch {
  private readonly operations: readonly string[];
  private readonly groups: readonly string[];
  private readonly versions: readonly string[];
  private readonly resources: readonly NamedResource[];
  private readonly names: readonly string[];
  private readonly scope: string;

  constructor(rule: NamedRuleWithOperations) {
    this.operations = rule.operations ?? [];
    this.groups = rule.apiGroups ?? [];
    this.versions = rule.apiVersions ?? [];
    this.resources = (rule.resources ?? []).map(namedResource);
    this.names = rule.resourceNames ?? [];
    this.scope = rule.scope ?? '*';
  }

  maySelect(operation: string, resources: readonly GroupResource[]): boolean {
    return (
      hasOrAll(this.operations, operation) &&
      resources.some(
        ({ group, resource }) =>
          hasOrAll(this.groups, group) &&
          this.resources.some((one) => one.resource === '*' || one.resource === resource),
      )
    );
  }

  selects(request: MatchedRequest, resource: GroupVersionResource): boolean {
    return (
      this.selectsOperation(request) &&
      hasOrAll(this.groups, resource.group) &&
      hasOrAll(this.versions, resource.version) &&
      this.selectsResource(resource.resource, request.attributes.subresource) &&
      this.selectsScope(request) &&
      (this.names.length === 0 || this.names.includes(request.attributes.name))
    );
  }

  selectsOperation({ attributes: { operation } }: MatchedRequest): boolean {
    return hasOrAll(this.operations, operation);
  }

  private selectsResource(resource: string, subresource: string): boolean {
    return this.resources.some(
      (one) =>
        (one.resource === '*' || one.resource === resource) &&
        (one.subresource === '*' || one.subresource === subresource),
    );
  }

  private selectsScope({ isAboutNamespace, namespace }: MatchedRequest): boolean {
    if (this.scope === '*') return true;
    return (this.scope === 'Namespaced') === (!isAboutNamespace && namespace !== '');
  }
}

const hasOrAll = (items: readonly string[], item: string): boolean => items.includes('*') || items.includes(item);

function namedResource(text: string): NamedResource {
  const slash = text.indexOf('/');
  return slash < 0
    ? { resource: text, subresource: '' }
    : { resource: text.slice(0, slash), subresource: text.slice(slash + 1) };
}
