/*
** ln(x) from its series.
*/
#include "numeric.h"

double bloom_log_ratio(uint64_t whole, uint64_t part){
  const double ln2 = 0.69314718055994530942;
  double halvings = 0;
  double z, z2, power, sum = 0;
  int n;
  /* Halve the ratio below 2, then ln(x) = 2 atanh((x-1)/(x+1)): its argument is at
  ** most 1/3. */
  for(; part<=whole/2; part*=2) halvings++;
  z = (double)(whole - part) / ((double)whole + (double)part);
  z2 = z * z;
  power = z;
  for(n=1; n<35; n+=2, power*=z2) sum += power / n;
  return 2 * sum + halvings * ln2;
}
