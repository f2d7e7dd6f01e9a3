/* Says what a program sees that has more rights than its caller, whose environment must not make it another one. It has
 * the door as a library of its own, since the program loader preloads none into such programs.
 *
 * usage: secure          prints AT_SECURE, what opening a node came to, and what libcamarb says of the broker */
#include "../../libcamarb/camarb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

int main(void) {
    printf("%lu\n", getauxval(AT_SECURE));
    int camera = open("/dev/video0", O_RDWR);
    puts(camera >= 0 ? "open" : strerror(errno));
    camarb_client *client;
    char sentence[512];
    camarb_client_new_explained(&client, NULL, sentence, sizeof sentence);
    puts(client ? "connected" : sentence);
    camarb_client_free(client);
    return 0;
}
