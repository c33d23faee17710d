import { currentRequestId } from '@apistrata/request-id';
import { useLoaderData } from 'react-router';

export const loader = () => ({ id: currentRequestId()?.local });

export default function Home() {
  return <p>{useLoaderData().id}</p>;
}
