extern const char *fault;
void counted(int i);
unsigned mix(unsigned n);
void fault_in_connection(void);
void fault_in_worker(void);
void fault_at_end(void);
int untrained(void);
