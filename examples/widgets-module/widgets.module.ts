import { Module, type DynamicModule } from '@nestjs/common';
import { PriceList } from './price-list.js';
import { ShopGroup, type ShopParts } from './shop.group.js';

/**
 * The API group shop.example.com/v1 as a module: `startKeelson({ modules: (parts) => [WidgetsModule.for(parts)] })`.
 */
@Module({})
export class WidgetsModule {
  static for(parts: ShopParts): DynamicModule {
    return {
      module: WidgetsModule,
      providers: [
        PriceList,
        { provide: ShopGroup, inject: [PriceList], useFactory: (prices: PriceList) => new ShopGroup(parts, prices) },
      ],
      exports: [ShopGroup],
    };
  }
}
