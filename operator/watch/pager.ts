/** A whole list, page by page: one state of the server, however many pages. */
import type { KubeObject, ResourceType } from '../../charts/resource.ts';
import type { Client, ListPage } from '../kube/client.ts';
import { isGone } from '../kube/errors.ts';

export interface ListAllProps {
  readonly client: Pick<Client, 'list'>;
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly trim: (object: KubeObject) => KubeObject;
}

export interface WholeList {
  readonly items: readonly KubeObject[];
  readonly version: string;
}

/** One page is parsed in about 10 ms; ten thousand objects at once would block the loop for 0.4 s. */
const pageSize = 500;

const pagesOf = async (
  props: ListAllProps,
  limit: number | undefined,
  signal: AbortSignal,
  heard: () => void,
): Promise<WholeList> => {
  const { client, type, namespace, labelSelector } = props;
  const query = {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
  };
  const items: KubeObject[] = [];
  let token: string | undefined;
  let page: ListPage;
  do {
    page = await client.list(
      type,
      { ...query, ...(limit !== undefined && { limit }), ...(token !== undefined && { continue: token }) },
      signal,
    );
    heard();
    for (const item of page.items) items.push(props.trim(item));
    token = page.continue;
  } while (token !== undefined);
  return { items, version: page.resourceVersion };
};

/** A continue token that expired (410) starts the list again, the last time in one piece. Rejects with what `list` throws. */
export const listAll = async (props: ListAllProps, signal: AbortSignal, heard: () => void): Promise<WholeList> => {
  for (const limit of [pageSize, pageSize]) {
    try {
      return await pagesOf(props, limit, signal, heard);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return pagesOf(props, undefined, signal, heard);
};
