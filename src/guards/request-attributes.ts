import type { AuthorizationAttributes } from '../auth/authorizer.js';
import { fieldSelectorIfValid, type FieldSelector } from '../machinery/field-selector.js';
import type { LabelSelector } from '../machinery/label-selector.js';
import { labelSelectorIfValid } from '../machinery/label-selector-parser.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { RequestSteps } from '../tracing/request-steps.js';

/** Attributes of an HTTP request. Its selectors are parsed only if an authorizer reads them. */
export class RequestAttributes implements AuthorizationAttributes {
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;

  constructor(
    readonly user: UserInfo,
    private readonly info: RequestInfo,
    readonly steps?: RequestSteps,
  ) {
    this.verb = info.verb;
    this.isResourceRequest = info.isResourceRequest;
    this.group = info.group;
    this.version = info.version;
    this.resource = info.resource;
    this.subresource = info.subresource;
    this.namespace = info.namespace;
    this.name = info.name;
    this.path = info.path;
  }

  get fieldSelector(): FieldSelector | undefined {
    const text = this.selectorText('fieldSelector');
    return text === undefined ? undefined : fieldSelectorIfValid(text);
  }

  get labelSelector(): LabelSelector | undefined {
    const text = this.selectorText('labelSelector');
    return text === undefined ? undefined : labelSelectorIfValid(text);
  }

  private selectorText(parameter: 'fieldSelector' | 'labelSelector'): string | undefined {
    if (!collectionVerbs.includes(this.verb)) return undefined;
    const text = this.info.query.first(parameter);
    if (text === undefined || text === '' || text.length > selectorCharactersMax) return undefined;
    return legacyWatchPath.test(this.path) ? undefined : text;
  }
}

const collectionVerbs: readonly string[] = ['list', 'watch', 'deletecollection'];

/**
 * Twice a URL that most proxies accept. Without its selector a request is about more objects, which never allows too much;
 * each authorizer that reads it would parse it, for 300 ms at the largest URL.
 */
const selectorCharactersMax = 16_384;

/** A watch with its verb in the path is authorized without selectors, as in kube-apiserver. */
const legacyWatchPath = /^\/*(api|apis\/[^/]*)\/[^/]*\/watch(\/|$)/;
