import {
  admissionFor,
  ApiError,
  ApiGroup,
  asFields,
  asNumber,
  asText,
  fieldError,
  Subresource,
  updateObject,
  VirtualResource,
  type ModuleContext,
  type HandlerResult,
  type SubresourceRequest,
  type VirtualRequest,
} from 'keelson';
import type { PriceList } from './price-list.js';
import { quotes, shopVersion, widgets, widgetStatus } from './shop.resources.js';
import { shineMax } from './widget.strategy.js';

/** The parts of the server that the group uses. */
export type ShopContext = Pick<ModuleContext, 'registry' | 'admission'>;

@ApiGroup({ ...shopVersion, resources: [widgets], virtual: [quotes] })
export class ShopGroup {
  constructor(
    private readonly server: ShopContext,
    private readonly prices: PriceList,
  ) {}

  /** POST …/widgets/{name}/polish: increments the shine of the stored widget, retrying on conflicts. */
  @Subresource('widgets', 'polish')
  async polish({ context, namespace, name, body }: SubresourceRequest): Promise<HandlerResult> {
    const times = asFields(body?.['spec'])['times'] ?? 1;
    if (!Number.isInteger(times) || asNumber(times) < 1) {
      const problem = fieldError.invalid('spec.times', times, 'must be a whole number of at least 1');
      throw ApiError.invalid({ group: shopVersion.group, kind: 'Polish' }, name, [problem]);
    }
    const served = this.server.registry.require(shopVersion.group, shopVersion.version, 'widgets');
    const target = { served, namespace, name, context };
    const { object, encoded } = await updateObject(
      served.store,
      target,
      (widget) => {
        if (!widget) throw ApiError.notFound(served.store.groupResource, name);
        const status = asFields(widget['status']);
        const shine = Math.min(shineMax, asNumber(status['shine']) + asNumber(times));
        return { ...widget, status: { ...status, shine } };
      },
      { subresource: widgetStatus, requiresResourceVersion: false, createsMissing: false },
      {
        request: context,
        admission: admissionFor(this.server.admission, target, 'UPDATE', 'polish'),
        managedFields: { mode: 'none' },
      },
    );
    return { object: encoded?.parse() ?? object, code: 200 };
  }

  /** POST …/quotes: computes the price of a number of widgets. */
  @VirtualResource('quotes')
  async quote({ body }: VirtualRequest): Promise<HandlerResult> {
    const { size = 'medium', count = 1 } = asFields(body['spec']);
    const price = this.prices.priceOf(asText(size));
    const errors = [
      ...(price === undefined ? [fieldError.invalid('spec.size', size, 'is not on the price list')] : []),
      ...(Number.isInteger(count) ? [] : [fieldError.invalid('spec.count', count, 'must be a whole number')]),
    ];
    if (price === undefined || errors.length > 0) throw ApiError.invalid(quotes, '', errors);
    return { object: { ...body, status: { total: price * asNumber(count) } } };
  }
}
